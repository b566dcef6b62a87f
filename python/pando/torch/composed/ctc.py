"""The loss of connectionist temporal classification: sums over all alignments, one time step after the other, forward and backward."""
import torch
import torch.nn.functional as F

aten = torch.ops.aten

# The logarithm of what cannot be.
_NOTHING = -1e30


def _lengths(like, lengths):
    """In a tensor of floats."""
    return lengths.to(like.dtype) if isinstance(lengths, torch.Tensor) else torch.ops.pando.constant(like, [float(n) for n in lengths], [len(lengths)])


def _rows(targets, lengths):
    """Targets as rows of one length."""
    if targets.dim() == 2:
        return targets
    if isinstance(lengths, torch.Tensor):
        raise NotImplementedError("aten._ctc_loss: targets in one row, with lengths in a tensor: where each begins depends on data. Pass rows, or lengths in a list.")
    longest, rows, at = max(lengths), [], 0
    for length in lengths:
        rows.append(torch.cat([targets[at:at + length], torch.zeros([longest - length], dtype=targets.dtype)]))
        at += length
    return torch.stack(rows)


class _Alignments:
    """The states of an alignment: labels (batch, states) with blanks around them, whether a state may follow the one two before it at once, and the
    log-probabilities (steps, batch, states) of each."""

    def __init__(self, log_probs, targets, input_lengths, target_lengths, blank):
        targets = _rows(targets, target_lengths)
        steps, batch, _ = log_probs.shape
        count = 2 * targets.shape[1] + 1
        blanks = torch.full((batch, targets.shape[1], 1), blank, dtype=targets.dtype)
        labels = torch.cat([blanks, targets.unsqueeze(2)], 2).reshape(batch, count - 1)
        self.labels = torch.cat([labels, torch.full((batch, 1), blank, dtype=targets.dtype)], 1).to(torch.int64)
        follows = (self.labels[:, 2:] != self.labels[:, :-2]) & (self.labels[:, 2:] != blank)
        self.skips = torch.cat([torch.zeros((batch, min(2, count)), dtype=torch.bool), follows], 1)
        self.places = self.labels.unsqueeze(0).expand(steps, batch, count)
        self.emitted = log_probs.gather(2, self.places)
        self.steps = _lengths(log_probs, input_lengths).unsqueeze(1)
        ends, place = 2 * _lengths(log_probs, target_lengths).unsqueeze(1), torch.arange(count).unsqueeze(0)
        self.first, self.last = place < 2, (place == ends) | (place == ends - 1)
        self.nothing = torch.full_like(self.emitted[0], _NOTHING)

    def _later(self, alpha, by):
        return torch.cat([self.nothing[:, :by], alpha[:, :alpha.shape[1] - by]], 1)

    def _earlier(self, beta, by):
        return torch.cat([beta[:, by:], self.nothing[:, :by]], 1)

    def forward(self):
        """(steps, batch, states): the logarithm of all ways to a state."""
        found = [torch.where(self.first, self.emitted[0], self.nothing)]
        for t in range(1, self.emitted.shape[0]):
            before = found[-1]
            ways = [before, self._later(before, 1), torch.where(self.skips, self._later(before, 2), self.nothing)]
            found.append(torch.stack(ways).logsumexp(0) + self.emitted[t])
        return torch.stack(found)

    def backward(self):
        """(steps, batch, states): the logarithm of all ways from a state on, itself among them."""
        found, behind = [], self.nothing
        for t in reversed(range(self.emitted.shape[0])):
            skipped = torch.where(self.skips, behind, self.nothing)
            ways = torch.stack([behind, self._earlier(behind, 1), self._earlier(skipped, 2)]).logsumexp(0)
            ways = torch.where(self.steps == t + 1, torch.where(self.last, 0, self.nothing), ways) + self.emitted[t]
            behind = torch.where(self.steps > t, ways, self.nothing)
            found.append(behind)
        return torch.stack(found[::-1])


def _loss(log_probs, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    ways = _Alignments(log_probs, targets, input_lengths, target_lengths, blank)
    alpha = ways.forward()
    # The last step of each element.
    here = torch.arange(alpha.shape[0]).reshape(-1, 1, 1) == ways.steps.unsqueeze(0) - 1
    end = torch.where(here, alpha, torch.zeros_like(alpha)).sum(0)
    value = -torch.where(ways.last, end, ways.nothing).logsumexp(1)
    value = torch.where(value > -_NOTHING / 2, torch.full_like(value, 0.0 if zero_infinity else float("inf")), value)
    return value, alpha.transpose(0, 1)


def _backward(gradient, log_probs, targets, input_lengths, target_lengths, value, alpha, blank, zero_infinity=False):
    ways = _Alignments(log_probs, targets, input_lengths, target_lengths, blank)
    shares = (alpha.transpose(0, 1) + ways.backward() - ways.emitted + value.reshape(1, -1, 1)).clamp(max=0).exp()
    occupied = torch.zeros_like(log_probs).scatter_add(2, ways.places, shares)
    found = (log_probs.exp() - occupied) * gradient.reshape(1, -1, 1)
    running = torch.arange(log_probs.shape[0]).reshape(-1, 1, 1) < ways.steps.unsqueeze(0)
    possible = (value != 0) & (value != float("inf")) if zero_infinity else value == value
    return torch.where(running & possible.reshape(1, -1, 1), found, torch.zeros_like(found))


def _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """F.ctc_loss. For a mean PyTorch makes a tensor of lengths in a list, and reads it: a tensor that is traced has no contents."""
    is_mean_of_list = reduction == "mean" and not isinstance(target_lengths, torch.Tensor)
    value = F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, "none" if is_mean_of_list else reduction, zero_infinity)
    if not is_mean_of_list:
        return value
    return (value / _lengths(value.detach(), [max(n, 1) for n in target_lengths])).mean()


FUNCTIONS = {F.ctc_loss: _ctc_loss}
COMPOSED = {aten._ctc_loss.default: _loss, aten._ctc_loss.Tensor: _loss, aten._ctc_loss_backward.default: _backward, aten._ctc_loss_backward.Tensor: _backward}
