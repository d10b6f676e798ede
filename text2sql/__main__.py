"""`python -m text2sql`: the command line, as `text2sql` and `python -m agent.main` start it."""

from agent.main import main

if __name__ == "__main__":
    main()
