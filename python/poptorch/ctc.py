"""Decoding for connectionist temporal classification: a beam search over prefixes, of ops that programs have."""
import torch

from poptorch import tracing

_NOTHING = -1e30


def _log_add(a, b):
    high, low = torch.maximum(a, b), torch.minimum(a, b)
    return high + torch.log1p(torch.exp(low - high))


class _Beams:
    """The most probable prefixes of each batch element: [B, W] log-probabilities that end in a blank and in a label, lengths, last labels, [B, W, T] labels."""

    def __init__(self, batch, width, steps, dtype):
        first = (torch.arange(width) > 0).to(dtype) * _NOTHING
        self.blank = first.expand(batch, width)
        self.label = torch.full((batch, width), _NOTHING, dtype=dtype)
        self.length = torch.zeros((batch, width), dtype=torch.int32)
        self.last = torch.full((batch, width), -1, dtype=torch.int32)
        self.labels = torch.full((batch, width, steps), -1, dtype=torch.int32)

    def total(self):
        return _log_add(self.blank, self.label)


def _step(beams, log_probs, blank, width):
    """The beams after one more time step, of log-probabilities [B, C]."""
    batch, classes = log_probs.shape
    total = beams.total()
    last = beams.last.clamp(min=0)
    stay_blank = total + log_probs[:, blank:blank + 1]
    stay_label = torch.where(beams.last >= 0, beams.label + torch.gather(log_probs, 1, last.long()), torch.full_like(total, _NOTHING))
    # A prefix with one label more: after the same label only what ended in a blank.
    extended = total.unsqueeze(2) + log_probs.unsqueeze(1)
    same = torch.arange(classes).reshape(1, 1, classes) == beams.last.unsqueeze(2)
    extended = torch.where(same, beams.blank.unsqueeze(2) + log_probs.unsqueeze(1), extended)
    extended = torch.where(torch.arange(classes).reshape(1, 1, classes) == blank, torch.full_like(extended, _NOTHING), extended)
    # Where prefix i is prefix j and its own last label, the two ways to it are one.
    place = torch.arange(beams.labels.shape[2]).reshape(1, 1, -1)
    before = torch.where(place == (beams.length - 1).unsqueeze(2), torch.full_like(beams.labels, -1), beams.labels)
    equal = (before.unsqueeze(2) == beams.labels.unsqueeze(1)).all(3) & ((beams.length - 1).unsqueeze(2) == beams.length.unsqueeze(1))
    of_last = torch.gather(extended, 2, last.long().unsqueeze(1).expand(batch, width, width)).transpose(1, 2)
    joined = torch.where(equal, of_last, torch.full_like(of_last, _NOTHING))
    stay_label = _log_add(stay_label, joined.amax(2))
    taken = (equal.unsqueeze(3) & (torch.arange(classes).reshape(1, 1, 1, classes) == beams.last.reshape(batch, width, 1, 1))).any(1)
    extended = torch.where(taken, torch.full_like(extended, _NOTHING), extended)
    return _best(beams, stay_blank, stay_label, extended, width)


def _best(beams, stay_blank, stay_label, extended, width):
    batch, _, classes = extended.shape
    candidates = torch.cat([_log_add(stay_blank, stay_label), extended.reshape(batch, width * classes)], 1)
    _, chosen = torch.topk(candidates, width, 1)
    stays = chosen < width
    parent = torch.where(stays, chosen, torch.div(chosen - width, classes, rounding_mode="floor").clamp(min=0))
    label = torch.remainder(chosen - width, classes).to(torch.int32)

    def of_parent(t):
        return torch.gather(t, 1, parent)

    nothing = torch.full_like(stay_blank, _NOTHING)
    new = _Beams.__new__(_Beams)
    new.blank = torch.where(stays, of_parent(stay_blank), nothing)
    new.label = torch.where(stays, of_parent(stay_label), torch.gather(candidates, 1, chosen))
    length = of_parent(beams.length)
    new.length = torch.where(stays, length, length + 1)
    new.last = torch.where(stays, of_parent(beams.last), label)
    steps = beams.labels.shape[2]
    labels = torch.gather(beams.labels, 1, parent.unsqueeze(2).expand(batch, width, steps))
    here = (torch.arange(steps).reshape(1, 1, steps) == length.unsqueeze(2)) & ~stays.unsqueeze(2)
    new.labels = torch.where(here, label.unsqueeze(2).expand(batch, width, steps), labels)
    return new


def _kept(running, new, old):
    """New beams where an element still runs, else the old ones."""
    kept = _Beams.__new__(_Beams)
    for name in ("blank", "label", "length", "last", "labels"):
        a, b = getattr(new, name), getattr(old, name)
        setattr(kept, name, torch.where(running.reshape(-1, *[1] * (a.dim() - 1)), a, b))
    return kept


def ctc_beam_search_decoder(probs, lengths, blank=0, beam_width=100, top_paths=1):
    """The most probable labellings by a beam search over prefixes. Outside of a program it gives zeros, as PopTorch does.

    Args:
        probs: log-probabilities [T, B, C].
        lengths: time steps of each batch element [B].
        blank: the class that is not a label.
        beam_width: prefixes that are kept in each step.
        top_paths: labellings that are returned; at most beam_width.

    Returns:
        (log-probabilities [B, P], lengths [B, P], labels [B, P, T]); labels after a length are -1.

    Raises:
        ValueError: more paths than the beam is wide; other ranks.
    """
    if probs.dim() != 3 or lengths.dim() != 1:
        raise ValueError(f"ctc_beam_search_decoder: log-probabilities [T, B, C] and lengths [B] are expected, not {tuple(probs.shape)} and {tuple(lengths.shape)}.")
    if not 0 < top_paths <= beam_width:
        raise ValueError(f"ctc_beam_search_decoder: {top_paths} paths of a beam of {beam_width}.")
    steps, batch, _ = probs.shape
    if not tracing.is_tracing():
        return (torch.zeros(batch, top_paths), torch.zeros(batch, top_paths, dtype=torch.int32), torch.zeros(batch, top_paths, steps, dtype=torch.int32))
    beams = _Beams(batch, beam_width, steps, probs.dtype)
    for t in range(steps):
        beams = _kept(lengths > t, _step(beams, probs[t], blank, beam_width), beams)
    order = torch.topk(beams.total(), top_paths, 1)
    return (order.values, torch.gather(beams.length, 1, order.indices),
            torch.gather(beams.labels, 1, order.indices.unsqueeze(2).expand(batch, top_paths, steps)))
