"""`python -m ampler` is `ampler`."""

from ampler.app import forget_working_folder

if __name__ == "__main__":  # test collectors import this module
    forget_working_folder()

    from ampler.app.cli import main

    main()
