"""PyWeightsIO: arrays by the ids of variables, to be written into a session, or to be filled from it."""
import numpy as np


class PyWeightsIO:
    def __init__(self, weights):
        wrong = [id for id, data in weights.items() if not isinstance(data, np.ndarray)]
        if wrong:
            raise TypeError(f"the data of {wrong} are not arrays")
        self.weights = dict(weights)
