"""python -m pando: the command line, as `pando`."""
from pando._command import main

if __name__ == "__main__":
    main()
