"""`pando repl --json` as an object. The protocol: docs/ontile/json.md."""
import itertools
import json
import queue
import subprocess
import threading


class ReplError(Exception):
    """The program has ended, or could not carry out a request."""


class Repl:
    """One session on the tiles. It is started with the first request, and again if it has ended."""

    def __init__(self, command):
        self.command = command
        self._ids = itertools.count(1)
        self._process = None
        self._replies = None

    def request(self, body):
        """The replies to one request, each as soon as it is there. Ctrl-C while waiting interrupts the tiles, whose reply is still waited for."""
        self._start()
        number = next(self._ids)
        self._send({"id": number, **body})
        more = True
        while more:
            reply = self._next_reply()
            if reply.get("id") != number:
                continue  # progress, or of a request that was given up
            if "error" in reply:
                raise ReplError(reply["error"])
            more = reply.get("more", False)
            yield reply

    def ask(self, body):
        """The reply to a request that has one."""
        return list(self.request(body))[-1]

    def give_line(self, line):
        """What tiles get that read a line, after a reply that wants input; None: there is no more."""
        self._send({"input": line})

    def interrupt(self):
        self._send({"interrupt": True})

    def close(self):
        if self._process:
            self._process.stdin.close()
            self._process.stdout.close()
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def _start(self):
        if self._process and self._process.poll() is None:
            return
        # A session of its own: a Ctrl-C for this process is told to it as a request.
        self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         text=True, encoding="utf-8", start_new_session=True)
        self._replies = queue.Queue()
        threading.Thread(target=self._read, args=(self._process, self._replies), daemon=True).start()

    @staticmethod
    def _read(process, replies):
        # Not in the thread that Ctrl-C ends: half a line would be lost.
        try:
            for line in process.stdout:
                replies.put(json.loads(line))
            replies.put(ReplError(process.stderr.read().strip() or "pando repl has ended"))
        except ValueError as error:  # closed, or no JSON
            replies.put(ReplError(str(error)))

    def _send(self, request):
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # why it has ended comes as the next reply

    def _next_reply(self):
        while True:
            try:
                reply = self._replies.get()
            except KeyboardInterrupt:
                self.interrupt()
                continue
            if isinstance(reply, ReplError):
                raise reply
            return reply
