"""`python -m supple` is the command `supple`."""

from supple.cli.main import run

if __name__ == "__main__":
    run()
