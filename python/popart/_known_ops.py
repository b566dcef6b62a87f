"""Custom operations of widely used layer libraries as compositions of popxl's own operations: rows of what popart.register_custom_op takes."""

def _all_reduce(t, op, stride, size, identical_inputs=False, identical_grad_inputs=False):
    from popxl._build import one

    return one("differentiable_replicated_all_reduce", [t], {"op": op, "stride": stride, "group_size": size, "identical_inputs": identical_inputs,
                                                              "identical_grad_inputs": identical_grad_inputs})


def _strided_all_reduce(operands, op, stride, size, identical_inputs, identical_grad_inputs):
    """The reduction over groups of replicas."""
    return [_all_reduce(operands[0], op, stride, size, identical_inputs, identical_grad_inputs)]


def _grouped_all_reduce(operands, op, group, identical_inputs, identical_grad_inputs):
    """The reduction over groups of replicas."""
    return [_all_reduce(operands[0], op, group.getStride(), group.getGroupSize(), identical_inputs, identical_grad_inputs)]


def _strided_all_gather(operands, stride, size):
    """(elements of all replicas of a group), or the whole of which the tensor is a shard."""
    from popxl._build import one

    t = operands[0]
    if not t.meta_shape:
        t = t.flatten()
    return [one("replicated_all_gather", [t], {"axis": 0, "output_shape": "meta_shape" if t.meta_shape else "concat", "stride": stride, "group_size": size})]


def _strided_reduce_scatter(operands, op, stride, size, sharded):
    """Each replica's part of the reduction over its group: (ceil(elements / size))."""
    from popxl._build import one

    return [one("replicated_reduce_scatter", operands, {"op": op, "configure_output_for_replicated_tensor_sharding": sharded, "stride": stride, "group_size": size})]


def _rotary_position_embedding(operands, rotary_dim):
    """Pairs (2i, 2i + 1) of the first `rotary_dim` elements of (batch, sequence, heads, elements), turned by the angles of the tables (1, sequence, rotary_dim / 2)."""
    from popxl import ops

    t, sin, cos = operands
    batch, sequence, heads, width = t.shape
    turned = t if rotary_dim == width else t[:, :, :, :rotary_dim]
    pairs = ops.reshape(turned, (batch, sequence, heads, rotary_dim // 2, 2))
    sin, cos = (ops.reshape(table, (*table.shape[:2], 1, table.shape[2], 1)) for table in (sin, cos))
    even, odd = (ops.slice(pairs, i, i + 1, axis=4) for i in (0, 1))
    out = ops.reshape(ops.concat([even * cos - odd * sin, odd * cos + even * sin], axis=4), turned.shape)
    return [out if rotary_dim == width else ops.concat([out, t[:, :, :, rotary_dim:]], axis=3)]


def _scaled_sum_of_squares(operands):
    """The sum of the squares, in float32, times a scale."""
    import popxl
    from popxl import ops

    t, scale = operands
    wide = ops.cast(t, popxl.float32)
    return [ops.sum(wide * wide) * scale]


def _layer_norm_of_shards(operands, epsilon, group):
    """Layer normalisation of (N, H / replicas of a group), normalised over all shards of a row; the means and the inverse deviations, (N)."""
    from popxl import ops

    t, weight, bias = operands
    stride, size = group.getStride(), group.getGroupSize()

    def mean(x):
        return _all_reduce(ops.sum(x, axis=1, keepdims=True), "add", stride, size) * (1.0 / (t.shape[1] * size))

    centre = mean(t)
    away = t - centre
    inverse = 1.0 / ops.sqrt(mean(away * away) + epsilon)
    return [away * inverse * weight + bias, ops.flatten(centre), ops.flatten(inverse)]


def _cross_entropy_of_shards(operands, group, availableMemoryProportion=None):
    """-log softmax at the labels, of logits (N, classes / replicas of a group); labels (N) count from the shard's first class. And the softmax."""
    import numpy as np
    import popxl
    from popxl import ops
    from popxl.ops.collectives import replicated_all_reduce

    logits, labels = operands
    n, classes = logits.shape
    stride, size = group.getStride(), group.getGroupSize()
    wide = ops.cast(logits, popxl.float32)
    members = logits._ir.replica_grouping(stride, size)
    largest = ops.detach(replicated_all_reduce(ops.max(wide, axis=1, keepdims=True), "max", group=members))
    shifted = wide - largest
    exponentials = ops.exp(shifted)
    # The loss is equal on all shards, and so is its gradient.
    total = _all_reduce(ops.sum(exponentials, axis=1, keepdims=True), "add", stride, size, identical_grad_inputs=True)
    is_label = ops.equal(ops.reshape(ops.cast(labels, popxl.int32), (n, 1)), popxl.constant(np.arange(classes, dtype=np.int32).reshape(1, classes)))
    chosen = _all_reduce(ops.sum(shifted * ops.cast(is_label, popxl.float32), axis=1), "add", stride, size, identical_grad_inputs=True)
    loss = ops.log(ops.flatten(total)) - chosen
    return [ops.cast(loss, logits.dtype), ops.cast(exponentials / total, logits.dtype)]


ROWS = {
    "replicated_all_reduce_strided_binding.ReplicatedAllReduceStridedOp": _strided_all_reduce,
    "replicated_all_reduce_TP_binding.ReplicatedAllReduceTPOp": _grouped_all_reduce,
    "replicated_all_gather_strided_binding.ReplicatedAllGatherStridedOp": _strided_all_gather,
    "replicated_reduce_scatter_strided_binding.ReplicatedReduceScatterStridedOp": _strided_reduce_scatter,
    "rotary_pos_embed_binding.RotaryPosEmbedOp": _rotary_position_embedding,
    "grad_reduce_square_add_binding.GradReduceSquareAddOp": _scaled_sum_of_squares,
    "layer_norm_distributed_binding.LayerNormDistributedOp": _layer_norm_of_shards,
    "crossentropysharded_binding.CrossEntropyShardedOp": _cross_entropy_of_shards,
}
