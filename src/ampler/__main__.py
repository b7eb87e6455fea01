"""`python -m ampler` is `ampler`."""

from ampler.app.shell import main

if __name__ == "__main__":  # test collectors import this module
    main()
