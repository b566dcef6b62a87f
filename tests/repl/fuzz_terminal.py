"""Keys and changes of the terminal's size, at random: the prompt stays alive. `fuzz_terminal.py [ROUNDS [SEED|new]]`; a failing round's
seed runs it again alone."""
import fcntl
import os
import random
import signal
import struct
import sys
import tempfile
import termios
import time

from terminal import Terminal

WITHOUT_TILES = os.path.join(os.environ["PANDO_BIN"], "repl_without_tiles")
KEYS = ["a", "Z", " ", "(", "ä", "漢", "\u0301", "\t", "\x7f", "\x01", "\x05", "\x0b", "\x17", "\x15", "\x19", "\x14", "\x0c", "\x12", "\x10", "\x0e",
        "\x02", "\x06", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[3~", "\x1b[1;5C", "\x1b[1;5D", "\x1bb", "\x1bf", "\x1bd",
        "\x1b[200~one\ntwo\x1b[201~", "\r", "\x03", "\x1f", "\x16", "\x1b", "\xff"]


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.kill(terminal.pid, signal.SIGWINCH)


def one_round(seed, terminal):
    dice = random.Random(seed)
    for _ in range(dice.randrange(1, 14)):
        what = dice.random()
        if what < 0.25:
            resize(terminal, dice.choice([0, 1, 2, 3, 10, 40, 200]), dice.choice([0, 1, 2, 3, 5, 10, 20, 80, 100, 300, 1000]))
        elif what < 0.4:
            terminal.type(dice.choice("xyz漢") * dice.choice([1, 30, 79, 80, 81, 200, 900]))
        else:
            terminal.type("".join(dice.choice(KEYS) for _ in range(dice.randrange(1, 12))))
        if dice.random() < 0.5:
            terminal._read(0.002)


def is_alive(terminal, mark):
    """Whatever was typed: a Ctrl-C later it answers."""
    resize(terminal, 40, 100)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        terminal.seen = ""
        terminal.type("\x1b\x03")
        terminal._read(0.05)
        terminal.type(f"\x15\x0ball alive{mark}\r")
        end = time.monotonic() + 1
        while time.monotonic() < end:
            if not terminal._read(0.02):
                return False
            if f"\nalive{mark}\n" in terminal.seen:
                return True
    return False


def start(env):
    terminal = Terminal([WITHOUT_TILES], env)
    terminal.expect(">>> ")
    return terminal


def main(rounds, first):
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, XDG_STATE_HOME=folder, TERM="xterm", LC_ALL="C.UTF-8", PANDO_THREADS="1")
        terminal, fresh = start(env), first
        for seed in range(first, first + rounds):
            try:
                one_round(seed, terminal)
                alive = is_alive(terminal, seed)
            except OSError:
                alive = False
            if not alive:
                print(f"fuzz_terminal: the prompt died in round {seed} of {fresh} ...: {terminal.seen[-500:]!r}")
                sys.exit(1)
            terminal.raw = b""
        terminal.close()
    print(f"fuzz_terminal: {rounds} rounds of keys and sizes, the prompt answers")


if __name__ == "__main__":
    seed = sys.argv[2] if len(sys.argv) > 2 else "0"
    if seed == "new":  # of its own: a run that is repeated covers new ground
        seed = random.SystemRandom().randrange(2**31)
        print(f"seed {seed}", flush=True)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(seed))
