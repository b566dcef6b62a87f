"""Views of sessions."""
from popart.reports import Reports


class Session(Reports):
    def __init__(self, session):
        self._session = session

    def _prepared(self):
        return self._session

    def writeWeights(self, io):
        """The data of a PyWeightsIO become those of the variables with its ids."""
        variables = {v.id: v for v in self._session.ir.main_graph.variables}
        unknown = sorted(set(io.weights) - set(variables))
        if unknown:
            raise ValueError(f"the program has no variables of the ids {unknown}")
        self._session.write_variables_data({variables[id]: data for id, data in io.weights.items()})

    def weightsFromHost(self):
        self._session.weights_from_host()
