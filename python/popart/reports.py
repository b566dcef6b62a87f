"""What a session says about what was compiled and run, under PopART's names."""
import os

from popxl._core import popart_exception


class Reports:
    """A base class: reports of the popxl.Session that `_prepared` gives, or None before there is one."""

    def _prepared(self):
        raise NotImplementedError

    def _engine_for_reports(self):
        session = self._prepared()
        if session is None:
            raise popart_exception("Session must have been prepared before a report can be fetched")
        if not hasattr(session._engine, "profile_summary"):
            raise popart_exception("The reference interpreter compiles nothing, and makes no report; other devices do")
        return session._engine

    def getReport(self):
        """A `pva.Report` of the file that the session wrote: of compiling, and of the runs that were profiled.

        Raises:
            popart_exception: the session is not prepared, or no report was asked for.
        """
        import pva

        path = self._engine_for_reports().report_file()
        if not path:
            raise popart_exception("The session writes no report. Ask for one before it compiles: popxl.Session(..., profile=FOLDER), or the engine option "
                                   "autoReport.all with autoReport.directory")
        if not os.path.exists(path):
            raise popart_exception(f"The session has not written {path} yet: what was asked for is written after a run")
        return pva.openReport(path)

    def getSummaryReport(self, resetProfile=True):
        """The summary as text: the graph, memory, and the cycles since the profile was reset. `resetProfile`: cycles begin at 0 after it.

        Raises:
            popart_exception: the session is not prepared.
        """
        engine = self._engine_for_reports()
        summary = engine.profile_summary()
        if resetProfile:
            engine.reset_cycles()
        return summary

    def getSerializedGraph(self):
        """The lowered graph, before it is compiled: the bytes of a text.

        Raises:
            popart_exception: the session is not prepared.
        """
        return self._engine_for_reports().dump("graph").encode()
