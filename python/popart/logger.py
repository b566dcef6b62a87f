"""popart.getLogger(): Python's logging under PopART's names of levels. POPART_LOG_LEVEL sets the level at the start."""
import logging
import os

_LEVELS = {"TRACE": 5, "DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERR": logging.ERROR, "CRITICAL": logging.CRITICAL,
           "OFF": logging.CRITICAL + 10}
_NAMES = {number: name for name, number in _LEVELS.items()}
_loggers = {}


class Logger:
    def __init__(self, name):
        self._logger = logging.getLogger(name)
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(name)s] [%(levelname)s] %(message)s"))
        self._logger.addHandler(handler)
        self._logger.propagate = False
        self.setLevel(os.environ.get("POPART_LOG_LEVEL", "OFF"))

    def setLevel(self, level):
        if level not in _LEVELS:
            raise ValueError(f"no level {level!r}; there are {', '.join(_LEVELS)}")
        self._logger.setLevel(_LEVELS[level])

    def getLevel(self):
        return _NAMES[self._logger.level]

    def debug(self, text):
        self._logger.debug(text)

    def info(self, text):
        self._logger.info(text)

    def warn(self, text):
        self._logger.warning(text)

    def error(self, text):
        self._logger.error(text)

    def critical(self, text):
        self._logger.critical(text)


def getLogger(name="popart"):
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]
