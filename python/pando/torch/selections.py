"""What a mask of bools picks of a tensor, x[mask]: its shape depends on data, and a program is static.

A selection is kept as all elements with the mask beside them. What is done to each element is done to all; what puts elements together, as a sum does, takes 0,
or what else changes nothing, where the mask has False. Gradients, which a mask puts back, take no part of what it has not picked, whatever that is.
"""
import itertools
import math
import operator

import torch
import torch.fx
from torch.utils import _pytree

aten = torch.ops.aten


class Selection:
    """All elements of a tensor of which a mask picks some.

    Attributes:
        whole: the tensor, whose dimension `place` has an element (or slice) for each of the mask, `repeat` times in turn.
        mask: bools, of one dimension.
    """

    def __init__(self, whole, mask, place=0, repeat=1):
        self.whole, self.mask, self.place, self.repeat = whole, mask, place, repeat

    def flags(self):
        """The mask in a shape that broadcasts to the tensor."""
        flags = self.mask
        if self.repeat > 1:
            flags = flags.unsqueeze(1).expand([flags.shape[0], self.repeat]).reshape([-1])
        return flags.reshape([-1] + [1] * (self.whole.dim() - 1 - self.place))

    def filled(self, value):
        """The tensor with a number in place of what is not picked."""
        return torch.where(self.flags(), self.whole, torch.full([], value, dtype=self.whole.dtype))


class Count:
    """How many elements a mask picks, times a number: an integer that the program computes."""

    def __init__(self, mask, factor=1):
        self.mask, self.factor = mask, factor

    def number(self):
        """As a tensor of float32."""
        return self.mask.to(torch.float32).sum() * self.factor

    def size(self):
        """The length of a dimension that has all elements."""
        return self.mask.shape[0] * self.factor


class Length:
    """A sum or difference of counts and integers: where tensors one after the other begin and end."""

    def __init__(self, size):
        self._size = size

    def size(self):
        """The length of a dimension that has all elements."""
        return self._size


def _length(x):
    return x.size() if isinstance(x, (Count, Length)) else x


class Quotient:
    """A number that a count divides."""

    def __init__(self, number, count):
        self._number, self._count = number, count

    def number(self):
        """As a tensor of float32."""
        return self._number / self._count.number()


def _rejected(what):
    return NotImplementedError(f"{what}: what a mask of bools picks has a shape that depends on data. Programs do to it what is done to each element, sums, products, "
                               "means, variances, extremes, products of matrices, cat and softmax; for all else use torch.where.")


def _only(selections, what):
    """The mask and repeat that some selections have in common."""
    masks = {(id(s.mask), s.repeat) for s in selections}
    if len(masks) > 1:
        raise _rejected(f"{what} of two selections by different masks")
    return selections[0].mask, selections[0].repeat


def _sizes(tree):
    """Lengths in place of counts, tensors in place of selections."""
    return _pytree.tree_map(lambda x: x.size() if isinstance(x, (Count, Length)) else x.whole if isinstance(x, Selection) else x, tree)


def _limits(dtype):
    """(the smallest, the largest number of a type)"""
    if dtype is torch.bool:
        return False, True
    return (-math.inf, math.inf) if dtype.is_floating_point else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)


# What a reduction takes in place of what is not picked, of an element type.
_NEUTRAL = {}
for _names, _value in [(("sum.default", "sum.dim_IntList", "cumsum.default"), lambda dtype: 0), (("prod.default", "prod.dim_int", "cumprod.default"), lambda dtype: 1),
                       (("any.default", "any.dim", "any.dims"), lambda dtype: 0), (("all.default", "all.dim", "all.dims"), lambda dtype: 1),
                       (("amax.default", "max.default"), lambda dtype: _limits(dtype)[0]), (("amin.default", "min.default"), lambda dtype: _limits(dtype)[1]),
                       (("logsumexp.default", "_softmax.default", "_log_softmax.default"), lambda dtype: -math.inf)]:
    for _name in _names:
        _packet, _, _overload = _name.partition(".")
        if hasattr(getattr(aten, _packet), _overload):
            _NEUTRAL[getattr(getattr(aten, _packet), _overload)] = _value
# Gradients of what goes along a dimension: the first argument is the gradient, the third the dimension.
_ALONG = {aten._softmax_backward_data.default, aten._log_softmax_backward_data.default}
_MEANS = {aten.mean.default, aten.mean.dim}
_PRODUCTS = {aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default, aten.addmm.default, aten.baddbmm.default, aten.addmv.default}
_LOOKUPS = {aten.gather.default, aten.scatter.value, aten.scatter.src, aten.scatter_add.default, aten.index_select.default, aten.argmax.default, aten.argmin.default,
            aten.max.dim, aten.min.dim, aten.unbind.int, aten.select_scatter.default, aten.slice_scatter.default, aten.select.int, aten.slice.Tensor, aten.sort.default, aten.topk.default, aten.flip.default}
# What moves elements, or makes others of the same shape.
_SHAPES = {getattr(packet, overload) for packet in (
    aten.view, aten.reshape, aten._unsafe_view, aten.unsqueeze, aten.squeeze, aten.permute, aten.t, aten.transpose, aten.expand, aten.clone, aten.detach, aten.alias,
    aten._to_copy, aten.copy, aten.copy_, aten.fill, aten.fill_, aten.zeros_like, aten.ones_like, aten.full_like, aten.empty_like, aten.lift_fresh_copy,
    aten.masked_fill, aten.embedding, aten.native_layer_norm, aten.stack, aten.constant_pad_nd) for overload in packet.overloads()}
# What makes tensors of given lengths.
_MADE = {getattr(packet, overload) for packet in (
    aten.zeros, aten.ones, aten.full, aten.empty, aten.new_zeros, aten.new_ones, aten.new_full, aten.new_empty) for overload in packet.overloads()}
_CHECKS = {"_assert_scalar", "_assert_async", "sym_constrain_range_for_size", "sym_constrain_range"}
_UNIQUE = {aten._unique2.default, aten.unique_consecutive.default}
_ADDS = {aten.index_add.default, aten.index_add_.default}
_PICKS = {aten.index.Tensor, aten._unsafe_index.Tensor, aten.masked_select.default}
_IN_TURN = {aten.masked_scatter.default, aten.masked_scatter_.default}
_PUTS = {aten.index_put.default, aten.index_put_.default, aten._unsafe_index_put.default, aten._index_put_impl_.default}


def _is_mask(x):
    return (isinstance(x, torch.Tensor) and x.dtype is torch.bool) or (isinstance(x, Selection) and x.whole.dtype is torch.bool)


def picks(node):
    """Whether a node of a graph picks by a mask, the places of a mask, or the first of equal numbers."""
    if node.target in (aten.masked_select.default, aten.nonzero.default) or node.target in _UNIQUE:
        return True
    indices = node.args[1] if node.op == "call_function" and node.target in _PICKS else ()
    return any(i is not None and i.meta["val"].dtype is torch.bool for i in indices)


class Static(torch.fx.Interpreter):
    """Runs a graph of PyTorch in which masks pick elements as one of static shapes.

    Raises:
        NotImplementedError: an op that has no static form of what a mask picks, or a result that is such.
    """

    def run_node(self, n):
        self._node = n
        return super().run_node(n)

    def call_function(self, target, args, kwargs):
        leaves = _pytree.tree_leaves((args, kwargs))
        selected = [x for x in leaves if isinstance(x, Selection)]
        masks = args[1] if target in _PICKS | _PUTS else ()
        masks = masks if isinstance(masks, (list, tuple)) else [masks]
        if target in _PICKS and any(map(_is_mask, masks)):
            return self._pick(target, args[0], masks)
        if target in _UNIQUE:
            given = {**dict(zip([a.name for a in target._schema.arguments], args)), **kwargs}
            if given.get("dim") is not None:
                raise _rejected(f"{target} of slices")
            return self._unique(given["self"], target is not aten.unique_consecutive.default, given.get("return_inverse", False), given.get("return_counts", False))
        if target is aten.nonzero.default:
            return self._places(args[0])
        if not selected and not any(isinstance(x, (Count, Length, Quotient)) for x in leaves):
            return super().call_function(target, args, kwargs)
        if target is operator.getitem:
            return args[0][args[1]]
        if target in _PUTS and any(map(_is_mask, masks)):
            return self._put(target, args[0], masks, *args[2:], **kwargs)
        if target in _PICKS | _PUTS and any(isinstance(i, Selection) for i in masks):
            return self._at_places(target, args[0], masks, *args[2:])
        if target is aten.index_select.default and isinstance(args[2], Selection):
            if isinstance(args[0], Selection):
                raise _rejected(f"{target}: places in a selection")
            return self._all(target, args, kwargs, selected)
        if target in _ADDS:
            return self._added(target, *args, **kwargs)
        if target in _IN_TURN and isinstance(args[2], Selection):
            return self._put(target, args[0], [args[1]], args[2])
        return self._of_selections(target, args, kwargs, selected)

    def output(self, target, args, kwargs):
        from pando.torch.importer import line_of

        for x, node in zip(_pytree.tree_leaves(args), _pytree.tree_leaves(self._node.args)):
            if isinstance(x, (Selection, Count)):
                raise NotImplementedError(f"{_rejected('A result of the model')} {line_of(node)}".rstrip())
        return super().output(target, args, kwargs)

    def _of_selections(self, target, args, kwargs, selected):
        name = target._opname if isinstance(target, torch._ops.OpOverload) else target.__name__
        if name in _CHECKS:
            return None
        if not isinstance(target, torch._ops.OpOverload) or name.startswith("sym_"):
            return self._number(name, args)
        if target in _MEANS:
            return self._mean(target, *args, **kwargs)
        if target in _NEUTRAL:
            return self._reduced(target, args, kwargs)
        if target in _ALONG:
            dy = args[0]
            along = isinstance(dy, Selection) and dy.place == args[2] % dy.whole.dim()
            return self._all(target, ([dy.filled(0)] if along else [dy]) + list(args[1:]), kwargs, selected)
        if target is aten.cat.default:
            return self._joined(*args, **kwargs)
        if target in _PRODUCTS:
            first = len(args) - 2
            given = [*args[:first], _factor(args[first], -1), _factor(args[first + 1], -2)]
            return self._all(target, given, kwargs, selected)
        if target is aten.slice.Tensor and args[0].place == args[1] % args[0].whole.dim():
            return self._part(*args, **kwargs)
        if target in _LOOKUPS:
            largest = max(selected, key=lambda s: s.whole.dim())
            if any(d is None or d % largest.whole.dim() == largest.place for d in _dims(target, args, kwargs)):
                raise _rejected(str(target))
            return self._all(target, args, kwargs, selected)
        if torch.Tag.pointwise in target.tags:
            return self._elementwise(target, args, kwargs, selected)
        if target in _SHAPES:
            return self._all(target, args, kwargs, selected)
        if target in _MADE:
            return self._all(target, _pytree.tree_map(lambda x: x.whole if isinstance(x, Selection) else x, args), kwargs, [])
        raise _rejected(str(target))

    def _number(self, name, args):
        """Integers that come from shapes."""
        x = args[0]
        if name == "sym_size" and isinstance(x, Selection):
            here = args[1] % x.whole.dim() == x.place
            return Count(x.mask, x.repeat) if here else x.whole.shape[args[1]]
        if name == "sym_numel" and isinstance(x, Selection):
            return Count(x.mask, x.whole.numel() // x.mask.shape[0])
        if name == "mul":
            count, number = args if isinstance(x, Count) else args[::-1]
            if isinstance(number, int):
                return Count(count.mask, count.factor * number)
        if name in ("add", "sub"):
            return Length(_length(args[0]) + (1 if name == "add" else -1) * _length(args[1]))
        if name == "sym_float" and isinstance(x, Count):
            return x
        if name == "truediv" and isinstance(args[1], Count) and isinstance(x, (int, float)):
            return Quotient(x, args[1])
        if name in ("ge", "le", "gt", "lt", "eq", "ne"):
            # What PyTorch knows of a size, which nothing but a check takes.
            return True
        raise _rejected(f"{name} of a size")

    # --- picking and putting back

    def _pick(self, target, x, masks):
        if len([m for m in masks if m is not None]) != 1 or masks[0] is None:
            raise _rejected(f"{target}: a mask of bools among other indices")
        mask = masks[0]
        if isinstance(mask, Selection):
            # Of what is picked already.
            if not isinstance(x, Selection) or mask.whole.dim() != 1 or x.place:
                raise _rejected(str(target))
            _only([x, mask], str(target))
            return Selection(x.whole, self._both(mask), 0, 1)
        if isinstance(x, Selection):
            raise _rejected(str(target))
        if target is aten.masked_select.default:
            x, mask = torch.broadcast_tensors(x, mask)
        count = mask.numel()
        if not count:
            raise _rejected(f"{target}: a mask without elements")
        found = Selection(x.reshape([count, *x.shape[mask.dim():]]), self._flat(masks[0], mask))
        if not (x.dtype.is_floating_point or x.dtype.is_complex or x.dtype is torch.bool):
            # They may be indices, of which those that are not picked may be out of range.
            found.whole = found.filled(0)
        return found

    def _flat(self, key, mask):
        """A mask in one dimension: the same tensor each time."""
        made = self.__dict__.setdefault("_masks", {})
        # The key stays alive, so that no other tensor gets its number.
        return made.setdefault((id(key), tuple(mask.shape)), (key, mask.reshape([-1])))[1]

    def _both(self, mask):
        made = self.__dict__.setdefault("_nested", {})
        return made.setdefault(id(mask), (mask, mask.whole & mask.flags()))[1]

    def _put(self, target, x, masks, values, accumulate=False, unsafe=False):
        if target in _IN_TURN and not isinstance(masks[0], Selection):
            # The mask broadcasts to the tensor.
            return self._put_flat(x, self._flat(masks[0], masks[0].expand(x.shape)), values, target._schema.is_mutable)
        if len([m for m in masks if m is not None]) != 1 or masks[0] is None:
            raise _rejected(f"{target}: a mask of bools among other indices")
        mask = masks[0]
        if isinstance(mask, Selection):
            flags, whole, of = self._both(mask), x.whole if isinstance(x, Selection) else x, mask
        elif isinstance(x, Selection):
            raise _rejected(str(target))
        else:
            flags, whole, of = self._flat(mask, mask), x, None
        if isinstance(values, Selection):
            if values.mask is not flags or values.place or values.repeat > 1:
                raise _rejected(f"{target} of two selections by different masks")
            values = values.whole
            values = values.reshape([*(mask.shape if of is None else [flags.shape[0]]), *values.shape[1:]])
        elif values.dim() >= whole.dim() - (mask.dim() if of is None else 1) + 1 and values.shape[0] != 1:
            raise _rejected(str(target))
        wide = flags.reshape([*(mask.shape if of is None else flags.shape), *[1] * (whole.dim() - (mask.dim() if of is None else 1))])
        made = torch.where(wide, whole + values if accumulate else values, whole)
        if target._schema.is_mutable:
            made = whole.copy_(made)
        return made if of is None else Selection(made, x.mask if isinstance(x, Selection) else of.mask, 0, 1)

    def _put_flat(self, x, flags, values, in_place):
        """x with the elements of a selection where flags, of one dimension, are set."""
        if isinstance(x, Selection) or values.mask is not flags or values.place or values.whole.dim() > 1:
            raise _rejected(str(self._node.target))
        made = torch.where(flags.reshape(x.shape), values.whole.reshape(x.shape), x)
        return x.copy_(made) if in_place else made

    # --- places of a mask

    def _places(self, x):
        """The coordinates of what is not 0: those of all elements, picked by a mask."""
        if isinstance(x, Selection):
            raise _rejected(str(self._node.target))
        if not x.numel() or not x.dim():
            raise _rejected(f"{self._node.target}: a tensor without elements, or without dimensions,")
        rest, coordinates = torch.arange(x.numel()), []
        for length in reversed(x.shape):
            coordinates.insert(0, rest % length)
            rest = rest // length
        return Selection(torch.stack(coordinates, 1), self._flat(x, x if x.dtype is torch.bool else x != 0))

    def _at_places(self, target, x, indices, values=None, accumulate=False, unsafe=False):
        """What lies at places that a selection has, or a tensor to which a selection is added there."""
        selected = [i for i in indices if isinstance(i, Selection)]
        if isinstance(x, Selection):
            raise _rejected(f"{target}: places in a selection")
        if target in _PICKS:
            return self._all(target, [x, indices], {}, selected)
        if not accumulate or not isinstance(values, Selection):
            raise _rejected(f"{target} without accumulating")
        _only([*selected, values], str(target))
        return target(x, _sizes(indices), values.filled(0), True)

    def _added(self, target, x, dim, index, source, *, alpha=1):
        """A tensor to which slices are added at places."""
        if isinstance(x, Selection) or not isinstance(source, Selection) or source.place != dim % source.whole.dim():
            raise _rejected(str(target))
        _only([source, *([index] if isinstance(index, Selection) else [])], str(target))
        return target(x, dim, _sizes(index), source.filled(0), alpha=alpha)

    # --- what is done to a selection

    def _joined(self, parts, dim=0):
        """Tensors one after the other, some of which are selections; of the others all is picked."""
        selections = [p for p in parts if isinstance(p, Selection)]
        rank, place = selections[0].whole.dim(), selections[0].place
        if dim % rank != place:
            return self._all(aten.cat.default, [parts, dim], {}, selections)
        if any(s.place != place for s in selections):
            raise _rejected("cat of selections along several dimensions")
        # PyTorch passes over tensors without elements of another rank.
        parts = [p for p in parts if isinstance(p, Selection) or p.dim() == rank]
        made, key = self.__dict__.setdefault("_joints", {}), tuple((id(p.mask), p.repeat) if isinstance(p, Selection) else p.shape[place] for p in parts)
        whole_tensors = [p.whole if isinstance(p, Selection) else p for p in parts]
        if key not in made:
            flags = [p.flags().reshape([-1]) if isinstance(p, Selection) else torch.ones([p.shape[place]], dtype=torch.bool) for p in parts]
            masks = [(p.mask, p.repeat) if isinstance(p, Selection) else (None, 1) for p in parts]
            made[key] = torch.cat(flags), list(zip(masks, [w.shape[place] for w in whole_tensors]))
        return Selection(torch.cat(whole_tensors, dim), made[key][0], place)

    def _part(self, s, dim=0, start=None, end=None, step=1):
        """One of the tensors that lie one after the other: its gradient."""
        first = _length(start or 0)
        for mask, parts in self.__dict__.get("_joints", {}).values():
            offset = 0
            for (own, repeat), length in parts if mask is s.mask and step == 1 else ():
                if offset == first and (end is None or _length(end) == offset + length or offset + length == mask.shape[0] <= _length(end)):
                    part = s.whole.narrow(s.place, offset, length)
                    return part if own is None else Selection(part, own, s.place, repeat)
                offset += length
        raise _rejected(str(self._node.target))

    def _unique(self, x, ordered, inverse, counts):
        """Different numbers, the first of each run of equal ones: (numbers, which of them each element is, how often each occurs)."""
        if isinstance(x, Selection):
            raise _rejected(str(self._node.target))
        if not x.numel():
            raise _rejected(f"{self._node.target}: a tensor without elements")
        flat = x.reshape([-1])
        values, order = flat.sort() if ordered else (flat, None)
        first = torch.cat([torch.ones([1], dtype=torch.bool), values[1:] != values[:-1]])
        rank = first.to(torch.int64).cumsum(0) - 1
        nothing = torch.empty([0], dtype=torch.int64)
        places = rank if order is None else torch.zeros_like(rank).scatter(0, order, rank)
        often = torch.zeros_like(rank).index_add(0, rank, torch.ones_like(rank)).index_select(0, rank)
        return Selection(values, first), places.reshape(x.shape) if inverse else nothing, Selection(often, first) if counts else nothing

    def _wrapped(self, made, fake, mask, repeat, before=None):
        """Selections of the results of an op; fake: what PyTorch knows of them. before: elements in front of what is picked, where that may change."""
        if isinstance(made, (tuple, list)):
            return type(made)(self._wrapped(m, f, mask, repeat, before) for m, f in zip(made, fake))
        if not isinstance(made, torch.Tensor):
            return made
        places = [i for i, d in enumerate(fake.shape) if not isinstance(d, int)]
        if not places:
            return made
        if len(places) > 1 or mask is None:
            raise _rejected(str(self._node.target))
        place, length = places[0], mask.shape[0]
        same = len(fake.shape) == made.dim() and all(i == place or d == made.shape[i] for i, d in enumerate(fake.shape))
        changed = made.shape[place] != length * repeat if before is None else math.prod(made.shape[:place]) != before
        if not same or changed or made.shape[place] % length:
            raise _rejected(str(self._node.target))
        return Selection(made, mask, place, made.shape[place] // length)

    def _all(self, target, args, kwargs, selected, number=False):
        """An op of all elements."""
        counts = [x for x in _pytree.tree_leaves((args, kwargs)) if isinstance(x, Count)]
        mask, repeat = _only(selected, str(target)) if selected else (counts[0].mask, counts[0].factor) if counts else (None, 1)
        viewed = target in (aten.view.default, aten.reshape.default, aten._unsafe_view.default)
        before = math.prod(selected[0].whole.shape[:selected[0].place]) if viewed and selected else None
        made = target(*_sizes(args), **_sizes(kwargs))
        return self._wrapped(made, self._node.meta["val"], mask, repeat, before)

    def _elementwise(self, target, args, kwargs, selected):
        """An op of each element. Counts are numbers here."""
        counted = any(isinstance(x, (Count, Quotient)) for x in args)
        args = [x.number() if isinstance(x, (Count, Quotient)) else x for x in args]
        if not selected:
            return target._overloadpacket(*args, **kwargs)
        return self._all(target._overloadpacket if counted else target, args, kwargs, selected)

    def _goes_along(self, s, dims):
        """Whether dimensions, None or an empty list for all, have that of the selection among them."""
        dims = [dims] if isinstance(dims, int) else dims
        return not dims or s.place in {d % s.whole.dim() for d in dims}

    def _reduced(self, target, args, kwargs):
        s = args[0]
        if isinstance(s, Selection) and self._goes_along(s, args[1] if len(args) > 1 else kwargs.get("dim")):
            args = [s.filled(_NEUTRAL[target](s.whole.dtype)), *args[1:]]
        return self._all(target, args, kwargs, [s])

    def _mean(self, target, s, dim=None, keepdim=False, *, dtype=None):
        if not self._goes_along(s, dim):
            return self._all(target, [s, dim, keepdim], {"dtype": dtype}, [s])
        total = torch.sum(s.filled(0).to(dtype or s.whole.dtype), dim or list(range(s.whole.dim())), keepdim)
        return (total / self._counted(s, dim)).to(total.dtype)

    def _counted(self, s, dims):
        """How many elements go into one result of a reduction."""
        axes = range(s.whole.dim()) if not dims else {d % s.whole.dim() for d in ([dims] if isinstance(dims, int) else dims)}
        others = math.prod(s.whole.shape[a] for a in axes) // s.mask.shape[0]
        return Count(s.mask, others).number()


def _dims(target, args, kwargs):
    """The dimensions along which an op of places goes; they may be left out."""
    for argument, default in zip(target._schema.arguments, itertools.chain(args, itertools.repeat(None))):
        if argument.name in ("dim", "dims"):
            found = kwargs.get(argument.name, argument.default_value if default is None else default)
            return found if isinstance(found, (list, tuple)) else [found]
    raise _rejected(str(target))


def _factor(x, contracted):
    """A factor of a product whose contracted dimension, of a matrix or of a vector, may be that of a selection: then 0 where it is not picked."""
    if isinstance(x, Selection) and x.place == (0 if x.whole.dim() == 1 else contracted % x.whole.dim()):
        return Selection(x.filled(0), x.mask, x.place, x.repeat)
    return x
