# A small scheduling study from design to report:
#   docker build -t ampler . && docker run --rm -v "$PWD/demo:/demo" ampler
FROM python:3.12-slim
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir ".[web,dask,parquet]"
WORKDIR /demo
CMD ["ampler", "demo"]
