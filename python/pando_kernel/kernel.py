"""The kernel: cells in, answers of all tiles out."""
import json
import os
import re

from ipykernel.kernelbase import Kernel
from IPython.core.error import StdinNotImplementedError

from pando_kernel import groups as answers
from pando_kernel.repl import Repl, ReplError

# A list of words in JSON; written by `pando jupyter install`.
COMMAND = "PANDO_KERNEL_COMMAND"


class PandoKernel(Kernel):
    implementation = "pando"
    implementation_version = "1"
    banner = "Python on every tile: a cell goes to all of them, equal answers are shown once. %help lists commands."
    language_info = {"name": "python", "mimetype": "text/x-python", "file_extension": ".py", "pygments_lexer": "ipython3",
                     "codemirror_mode": {"name": "ipython", "version": 3}}

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.repl = Repl(json.loads(os.environ.get(COMMAND, '["pando", "repl", "--json"]')))

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **kwargs):
        self._allow_stdin = allow_stdin  # what raw_input() goes by
        error, payload = None, []
        try:
            for reply in self.repl.request({"run": code, "kind": "cell", "name": f"In [{self.execution_count}]"}):
                if reply.get("wants_input"):
                    self.answer_input(reply["plain"])
                    continue
                if not silent:
                    self.show(reply)
                error = answers.error_of(reply.get("groups", [])) or self.complaint(reply)
                if reply.get("quit") and not reply.get("groups"):
                    payload = [{"source": "ask_exit", "keepkernel": False}]
        except ReplError as failure:
            error = ("ReplError", str(failure), [str(failure)])
        if error is None:
            return {"status": "ok", "execution_count": self.execution_count, "payload": payload, "user_expressions": {}}
        content = dict(zip(("ename", "evalue", "traceback"), error))
        if not silent:
            self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    def answer_input(self, prompt):
        """Tiles read a line: the notebook is asked for one, for all of them."""
        try:
            self.repl.give_line(self.raw_input(prompt))
        except (StdinNotImplementedError, EOFError):
            self.repl.give_line(None)
        except KeyboardInterrupt:
            self.repl.interrupt()

    @staticmethod
    def complaint(reply):
        """What the host did not carry out, as an error."""
        return ("UsageError", reply["message"].strip(), [reply["message"].strip()]) if reply.get("wrong") else None

    def show(self, reply):
        """What all tiles say is a plain stream; different answers are a table. Errors come last, as such."""
        groups = reply.get("groups", [])
        well = [group for group in groups if group not in answers.wrong(groups)]
        if len(groups) == 1 and well:
            self.stream("stdout", reply["plain"])
        elif answers.spoken(well):
            data = {"text/plain": reply["plain"], "text/html": answers.as_html(well)}
            self.send_response(self.iopub_socket, "display_data", {"data": data, "metadata": {}})
        if not reply.get("wrong"):
            self.stream("stdout" if not groups else "stderr", reply.get("message", ""))

    def stream(self, name, text):
        if text:
            self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

    def do_complete(self, code, cursor_pos):
        line = code[:cursor_pos].rsplit("\n", 1)[-1]
        begun = re.search(r"^%\w*$|\w*$", line).group()
        reply = self.repl.ask({"complete": line})
        matches = [begun + reply["insert"]] if reply["insert"] else reply["candidates"].split()
        return {"status": "ok", "matches": matches, "cursor_start": cursor_pos - len(begun), "cursor_end": cursor_pos, "metadata": {}}

    def do_is_complete(self, code):
        reply = self.repl.ask({"is_complete": code})
        if reply["is_complete"]:
            return {"status": "complete"}
        return {"status": "incomplete", "indent": reply["indent"]}

    def do_shutdown(self, restart):
        self.repl.close()
        return {"status": "ok", "restart": restart}
