"""Settings that `pando search --emit` writes, taken by the trainers' own code: Megatron-LM's parser of layouts, torchtitan's classes of settings."""
import importlib.util
import pathlib
import re
import subprocess
import sys
import types

import pytest

PANDO = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "pando"


def settings_of(trainer, require, model="llama3-8b", devices=64, batch=256):
    require += "" if "precision" in require else " precision=bf16"
    done = subprocess.run([PANDO, "search", model, "--machine", "h100", "--devices", str(devices), "--batch", str(batch), "--require", require, "--quiet",
                           "--space", "everything", "--emit", trainer], capture_output=True, text=True, check=True)
    # Behind the answer of the search.
    return done.stdout[done.stdout.index("# " + model):]


@pytest.mark.parametrize("require,virtual", [("p=5 t=1", 1), ("p=3 t=1 v=1", 1), ("p=4 v=3 t=2", 3), ("p=16 t=1 weighed", 1)])
def test_megatron_reads_the_layout(require, virtual):
    parser = pytest.importorskip("megatron.core.transformer.pipeline_parallel_layer_layout").PipelineParallelLayerLayout
    ranks = int(re.search(r"p=(\d+)", require).group(1))
    flags = settings_of("megatron", require, devices=60 if ranks in (3, 5) else 64, batch=240 if ranks in (3, 5) else 256)
    text = re.search(r'--pipeline-model-parallel-layout "([^"]*)"', flags)
    assert text, flags
    layout = parser(text.group(1), ranks)
    layout.validate_layer_layout(32, 0)
    assert layout.virtual_pipeline_model_parallel_size == virtual


class Converter:
    """In place of torchtitan's converters, which take a GPU: what would be converted, without which modules."""
    def __init__(self, *, filter_fqns, model_compile_enabled):
        assert model_compile_enabled
        self.filter_fqns = filter_fqns

    def build(self):
        return self

    def convert(self, model):
        return [model, self.filter_fqns]


@pytest.fixture(name="torchtitan")
def torchtitan_settings():
    """The module of torchtitan's settings alone: the rest of the package needs what settings do not."""
    package = importlib.util.find_spec("torchtitan")
    if package is None:
        pytest.skip("torchtitan is not installed")
    path = pathlib.Path(package.submodule_search_locations[0]) / "config" / "configs.py"
    spec = importlib.util.spec_from_file_location("torchtitan_configs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("require", ["t=2 p=4", "d=64 zero=3", "p=4 schedule=ZBV", "t=8 recompute=full", "c=2 zero=2", "t=4 comm=sequence-parallel overlap=ring",
                                     "d=64 precision=fp8"])
def test_torchtitan_takes_the_recipe(torchtitan, monkeypatch, require):
    checkpointing = types.ModuleType("torchtitan.distributed.activation_checkpoint")
    for name in ("FullAC", "SelectiveAC"):
        setattr(checkpointing, name, type(name, (), {"Config": type("Config", (), {})}))
    for name, module in (("torchtitan", types.ModuleType("torchtitan")), ("torchtitan.distributed", types.ModuleType("torchtitan.distributed")),
                         ("torchtitan.distributed.activation_checkpoint", checkpointing)):
        monkeypatch.setitem(sys.modules, name, module)
    quantization = types.ModuleType("torchtitan.components.quantization")
    quantization.Float8LinearConverter = type("Float8LinearConverter", (), {"Config": Converter})
    monkeypatch.setitem(sys.modules, "torchtitan.components", types.ModuleType("torchtitan.components"))
    monkeypatch.setitem(sys.modules, "torchtitan.components.quantization", quantization)
    names = {}
    exec(compile(settings_of("torchtitan", require), "recipe.py", "exec"), names)
    config = types.SimpleNamespace(training=torchtitan.TrainingConfig(), parallelism=torchtitan.ParallelismConfig(), compile=torchtitan.CompileConfig(),
                                   model_spec=types.SimpleNamespace(model="llama3"))
    # The classes have slots: a setting that they do not have is an error.
    names["with_strategy"](config)
    p = config.parallelism
    p.__post_init__(), config.compile.__post_init__()
    assert config.model_spec.model == (["llama3", ["lm_head"]] if "fp8" in require else "llama3")
    assert config.compile.enable == ("fp8" in require or config.compile.enable_async_tensor_parallel)
    assert config.compile.enable_async_tensor_parallel or "overlap" not in require
    degrees = (p.data_parallel_replicate_degree * p.data_parallel_shard_degree * p.tensor_parallel_degree * p.context_parallel_degree *
               p.pipeline_parallel_degree)
    assert degrees == 64
    assert config.training.global_batch_size == 256
    if p.pipeline_parallel_degree > 1:
        modules = [m for part in p.module_fqns_per_model_part for m in part]
        assert [m for m in modules if m.startswith("layers.")] == [f"layers.{i}" for i in range(32)]
        assert len(p.module_fqns_per_model_part) % p.pipeline_parallel_degree == 0
