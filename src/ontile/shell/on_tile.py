# The shell, which runs on tile 0. The host gives it a line at a time; it says by the status that it exits with how the line went, or what
# the host has to do for it: `request` then tells what.
import errno
import gc
import os
import sys

LEAVE, RUN = 253, 255
NOT_FOUND, WRONG = 127, 2
SYMBOLS = ('<<', '>>', '>')
REASONS = {
    errno.ENOENT: 'no such file or directory', errno.EEXIST: 'it exists', errno.EISDIR: 'it is a directory',
    20: 'it is no directory', 39: 'the directory is not empty', 28: 'the disk is full', errno.ENODEV: 'this tile has no disk',
    errno.EINVAL: 'that cannot be done',
}

HELP = '''\
cat [FILE ...]: what is in files, or in the lines that follow: cat > FILE << END
cd [DIRECTORY]: go there, or to /
cp FILE ... TARGET: a file or a directory
df: how full the disk is
echo [-n] WORD ...: prints them; -n: without an end of line
exit [STATUS]: ends the shell
history: the lines until now
ls [-l] [PATH ...]: what a directory holds
lshw: what the machine is
mkdir [-p] DIRECTORY ...: -p: with those above it, and if it is there
mv PATH ... TARGET
pwd: the directory that names are looked for in
rm [-r] FILE ...: -r: directories with all that is in them
rmdir DIRECTORY ...: those that are empty
!COMMAND: one of the host, if --allow-host was given
./FILE [WORD ...]: runs Python from the disk on this tile; @8 ./FILE, @0-3,8 ./FILE, @all ./FILE: on others
COMMAND > FILE, COMMAND >> FILE: what it prints goes to a file
'''


class Wrong(Exception):
    pass


def split(line):
    """Words of a line; a symbol that stands outside of quotes is a tuple of it."""
    words, word, quote, i = [], None, None, 0
    while i < len(line):
        c = line[i]
        i += 1
        symbol = next((s for s in SYMBOLS if not quote and line[i - 1:].startswith(s)), None)
        if c == quote:
            quote = None
        elif not quote and c in '\'"':
            quote, word = c, word or ''
        elif c == '\\' and quote != "'" and i < len(line):
            word = (word or '') + line[i]
            i += 1
        elif symbol or (not quote and (c in ' \t' or (c == '#' and word is None))):
            if word is not None:
                words.append(word)
            word = None
            if symbol:
                words.append((symbol,))
                i += len(symbol) - 1
            if c == '#':
                break
        else:
            word = (word or '') + c
    if quote:
        raise Wrong("there is no second " + quote)
    return words if word is None else words + [word]


def is_directory(path):
    try:
        return path in ('.', '..', '/') or os.stat(path)[0] & 0x4000 != 0
    except OSError:
        return False


def join(folder, name):
    return folder + name if folder.endswith('/') else folder + '/' + name


def base(path):
    return path.rstrip('/').rsplit('/', 1)[-1]


def into(source, target):
    return join(target, base(source)) if is_directory(target) else target


def copy(source, target):
    with open(source, 'rb') as f, open(target, 'wb') as g:
        while piece := f.read(512):
            g.write(piece)


def remove_tree(path):
    if is_directory(path):
        for name in os.listdir(path):
            remove_tree(join(path, name))
        os.rmdir(path)
    else:
        os.remove(path)


def flags_of(words, known):
    flags = ''
    while words and words[0][:1] == '-' and len(words[0]) > 1:
        flags += words.pop(0)[1:]
    for f in flags:
        if f not in known:
            raise Wrong('there is no option -' + f)
    return flags


def need(words, least, most, form):
    if not least <= len(words) <= most:
        raise Wrong('it is used as: ' + form)


class Shell:
    def __init__(self, machine, tile, disk, interactive):
        self.machine, self.tile, self.disk, self.interactive = machine, tile, disk, interactive
        self.lines = []
        self.request = ''
        self.program = None

    # What the host calls.

    def line(self, text):
        self.lines.append(text)
        try:
            status = self.obey(text)
        except KeyboardInterrupt:
            print()
            status = 130
        raise SystemExit(status)

    def remember(self, text):
        """One that the host carries out itself."""
        self.lines.append(text)

    def prompt(self):
        print(os.getcwd(), '$ ', end='')

    def complete(self, start):
        """Ways to go on with the last word, a line each."""
        word = start.split(' ')[-1]
        folder, slash, name = word.rpartition('/')
        if word == start and not slash:
            found = [n + ' ' for n in self.commands() if n.startswith(word)]
        else:
            names = os.listdir((folder or '/') if slash else '.')
            found = [n + ('/' if is_directory(join((folder or '/') if slash else '.', n)) else ' ') for n in names if n.startswith(name)]
            word = name
        for n in sorted(found):
            print(n[len(word):])

    # A line.

    def commands(self):
        return sorted(n[3:] for n in dir(self) if n.startswith('do_'))

    def obey(self, text):
        command = 'shell'
        try:
            words, symbols = [], []
            rest = split(text)
            while rest:
                word = rest.pop(0)
                if isinstance(word, str):
                    words.append(word)
                elif not rest or not isinstance(rest[0], str):
                    raise Wrong('there is no name after ' + word[0])
                else:
                    symbols.append((word[0], rest.pop(0)))
            if not words:
                return 0
            command = words[0]
            tiles = words.pop(0)[1:] if command[0] == '@' else None
            if tiles is not None or '/' in command:
                if symbols:
                    raise Wrong('only what the shell itself prints can go to a file')
                return self.run(tiles, words)
            action = getattr(self, 'do_' + command, None)
            if not action:
                print(command + ': there is no such command; help lists them')
                return NOT_FOUND
            return self.redirect(action, words[1:], symbols)
        except Wrong as e:
            print(command + ':', e)
            return WRONG
        except OSError as e:
            print(command + ':', REASONS.get(e.errno, e) if len(e.args) < 2 else '%s: %s' % (e.args[1], REASONS.get(e.errno, e.errno)))
            return 1
        except UnicodeError:
            print(command + ': what is no UTF-8 is no text')
            return WRONG
        except MemoryError:
            print(command + ': this tile has not that much memory')
            return 1

    def redirect(self, action, words, symbols):
        self.out, self.here = None, None
        target = None
        for symbol, word in symbols:
            if symbol == '<<':
                self.here = word
            else:
                target = (word, 'a' if symbol == '>>' else 'w')
        if not target:
            return action(words) or 0
        try:
            self.out = open(*target)
        except OSError as e:
            raise OSError(e.errno, target[0])
        with self.out:
            return action(words) or 0

    def write(self, text):
        if self.out:
            self.out.write(text)
        else:
            sys.stdout.write(text)

    def say(self, *words):
        self.write(' '.join(str(w) for w in words) + '\n')

    def each(self, words, action):
        """For each of the paths; one that fails does not keep the others from it."""
        status = 0
        for path in words:
            try:
                action(path)
            except OSError as e:
                print('%s: %s' % (path, REASONS.get(e.errno, e)))
                status = 1
        return status

    def ask(self, what, request):
        self.request = request
        return what

    def run(self, tiles, words):
        if not words or '/' not in words[0]:
            raise Wrong('a program is run as: @8 ./program.py')
        try:
            with open(words[0]) as f:
                self.program = (words[0], f.read(), words)
        except OSError as e:
            raise OSError(e.errno)
        return self.ask(RUN, tiles or '0')

    # The commands.

    def do_ls(self, words):
        long = 'l' in flags_of(words, 'l')
        def show(path):
            if not is_directory(path):
                os.stat(path)
                return self.say(path)
            if len(words) > 1:
                self.say(path + ':')
            for entry in sorted(os.ilistdir(path)):
                name = entry[0] + ('/' if entry[1] == 0x4000 else '')
                self.say('%8d %s' % (entry[3], name) if long else name)
        return self.each(words or ['.'], show)

    def do_cd(self, words):
        need(words, 0, 1, 'cd [DIRECTORY]')
        try:
            os.chdir(words[0] if words else '/')
        except OSError as e:
            raise OSError(e.errno if e.errno > 0 else -e.errno, words[0])

    def do_pwd(self, words):
        self.say(os.getcwd())

    def do_cat(self, words):
        def show(path):
            if is_directory(path):
                raise OSError(errno.EISDIR)
            with open(path) as f:
                while piece := f.read(512):
                    self.write(piece)
        if words:
            return self.each(words, show)
        while True:
            if self.interactive:
                sys.stdout.write('> ')
            text = sys.stdin.readline()
            if not text or text == (self.here or '') + '\n' and self.here is not None:
                return
            self.write(text)

    def do_mkdir(self, words):
        flags = flags_of(words, 'p')
        def make(path):
            if 'p' not in flags:
                return os.mkdir(path)
            for i in range(1, len(path) + 1):
                if (i == len(path) or path[i] == '/') and not is_directory(path[:i]):
                    os.mkdir(path[:i])
        return self.each(words, make)

    def do_rm(self, words):
        recursive = 'r' in flags_of(words, 'r')
        def remove(path):
            if is_directory(path) and not recursive:
                raise OSError(errno.EISDIR)
            remove_tree(path) if recursive else os.remove(path)
        return self.each(words, remove)

    def do_rmdir(self, words):
        return self.each(words, os.rmdir)

    def do_cp(self, words):
        need(words, 2, 99, 'cp FILE ... TARGET')
        return self.each(words[:-1], lambda path: copy(path, into(path, words[-1])))

    def do_mv(self, words):
        need(words, 2, 99, 'mv PATH ... TARGET')
        return self.each(words[:-1], lambda path: os.rename(path, into(path, words[-1])))

    def do_echo(self, words):
        end = '' if words[:1] == ['-n'] and words.pop(0) else '\n'
        self.write(' '.join(words) + end)

    def do_df(self, words):
        s = os.statvfs('/')
        self.say('%d of %d KiB are free' % (s[0] * s[3] // 1024, s[0] * s[2] // 1024))

    def do_lshw(self, words):
        gc.collect()
        s = os.statvfs('/')
        self.say('machine   ' + self.machine)
        self.say('tile      %s; its Python has %d KiB, of which %d KiB are free' % (self.tile, (gc.mem_alloc() + gc.mem_free()) // 1024, gc.mem_free() // 1024))
        self.say('disk      %s; of %d KiB %d KiB are free' % (self.disk, s[0] * s[2] // 1024, s[0] * s[3] // 1024))
        self.say('python    ' + sys.version)

    def do_history(self, words):
        for i, text in enumerate(self.lines):
            self.say('%4d  %s' % (i + 1, text))

    def do_help(self, words):
        self.write(HELP)

    def do_exit(self, words):
        need(words, 0, 1, 'exit [STATUS]')
        return self.ask(LEAVE, words[0] if words else '')
