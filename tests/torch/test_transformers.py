"""Models of the package transformers, in tiny configurations: two training steps equal to eager, losses and weights."""
import copy
import warnings

import pytest
import torch

import pando.torch

transformers = pytest.importorskip("transformers", reason="transformers is not installed: tests/torch/requirements.txt names it")
transformers.logging.set_verbosity_error()

WORDS = 64
SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
DECODER = dict(vocab_size=WORDS, **SMALL)
TWO_SIDED = dict(vocab_size=WORDS, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48,
                 decoder_ffn_dim=48)


def ids(length=8):
    return torch.randint(3, WORDS, (2, length))


def image(size=32):
    return torch.randn(2, 3, size, size)


def labels(*shape):
    return torch.randint(0, 2, shape or (2,))


def mask():
    return torch.tensor([[1] * 8, [1] * 5 + [0] * 3])


def words():
    """What a decoder takes: labels are the words themselves."""
    found = ids()
    return dict(input_ids=found, labels=found)


def masked():
    return dict(input_ids=ids(), attention_mask=mask(), labels=labels())


def pixels(size=32):
    return dict(pixel_values=image(size), labels=labels())


# {model: (configuration, its settings, a function that gives a batch)}
MODELS = {
    "BertForSequenceClassification": ("BertConfig", DECODER, masked),
    "BertForMaskedLM": ("BertConfig", DECODER, lambda: {**masked(), "labels": ids()}),
    "GPT2LMHeadModel": ("GPT2Config", dict(vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=32), words),
    "LlamaForCausalLM": ("LlamaConfig", dict(num_key_value_heads=2, **DECODER), lambda: {**words(), "attention_mask": mask()}),
    "MistralForCausalLM": ("MistralConfig", dict(num_key_value_heads=2, sliding_window=4, **DECODER), words),
    "Qwen3ForCausalLM": ("Qwen3Config", dict(num_key_value_heads=2, head_dim=8, **DECODER), words),
    "Gemma2ForCausalLM": ("Gemma2Config", dict(num_key_value_heads=2, head_dim=8, sliding_window=4, **DECODER), words),
    "MixtralForCausalLM": ("MixtralConfig", dict(num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2, **DECODER), words),
    "T5ForConditionalGeneration": ("T5Config", dict(vocab_size=WORDS, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0,
                                                    pad_token_id=0), lambda: dict(input_ids=ids(), labels=ids(6))),
    "BartForConditionalGeneration": ("BartConfig", dict(max_position_embeddings=32, **TWO_SIDED), lambda: dict(input_ids=ids(), labels=ids(6))),
    "WhisperForConditionalGeneration": ("WhisperConfig", dict(num_mel_bins=8, max_source_positions=10, max_target_positions=16, pad_token_id=0, bos_token_id=1,
                                                              eos_token_id=2, decoder_start_token_id=1, **TWO_SIDED),
                                        lambda: dict(input_features=torch.randn(2, 8, 20), labels=ids(6))),
    "ViTForImageClassification": ("ViTConfig", dict(image_size=32, patch_size=8, **SMALL), pixels),
    "CLIPModel": ("CLIPConfig", dict(text_config=dict(max_position_embeddings=16, eos_token_id=2, **DECODER),
                                     vision_config=dict(image_size=32, patch_size=8, **SMALL), projection_dim=16),
                  lambda: dict(input_ids=ids(), pixel_values=image(), return_loss=True)),
    "ConvNextForImageClassification": ("ConvNextConfig", dict(hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1]), pixels),
    "ResNetForImageClassification": ("ResNetConfig", dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"), pixels),
    "SwinForImageClassification": ("SwinConfig", dict(image_size=32, patch_size=4, embed_dim=8, depths=[2, 2], num_heads=[2, 2], window_size=4), pixels),
    "MambaForCausalLM": ("MambaConfig", dict(vocab_size=WORDS, hidden_size=32, num_hidden_layers=1, state_size=4), words),
    "RwkvForCausalLM": ("RwkvConfig", dict(vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, attention_hidden_size=32, intermediate_size=48), words),
    "Wav2Vec2ForSequenceClassification": ("Wav2Vec2Config", dict(conv_dim=(8, 8), conv_stride=(5, 2), conv_kernel=(10, 3), num_feat_extract_layers=2,
                                                                 num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, apply_spec_augment=False,
                                                                 **DECODER), lambda: dict(input_values=torch.randn(2, 400), labels=labels())),
    "DebertaV2ForSequenceClassification": ("DebertaV2Config", dict(relative_attention=True, pos_att_type=["c2p", "p2c"], max_relative_positions=16,
                                                                   position_buckets=8, max_position_embeddings=32,
                                                                   problem_type="single_label_classification", **DECODER), masked),
    "DistilBertForQuestionAnswering": ("DistilBertConfig", dict(vocab_size=WORDS, dim=32, n_layers=1, n_heads=4, hidden_dim=48, max_position_embeddings=32),
                                       lambda: dict(input_ids=ids(), start_positions=torch.randint(0, 8, (2,)), end_positions=torch.randint(0, 8, (2,)))),
    "ViTMAEForPreTraining": ("ViTMAEConfig", dict(image_size=32, patch_size=8, decoder_hidden_size=16, decoder_num_hidden_layers=1, decoder_num_attention_heads=2,
                                                  decoder_intermediate_size=32, **SMALL), lambda: dict(pixel_values=image(), noise=torch.rand(2, 16))),
    "SegformerForSemanticSegmentation": ("SegformerConfig", dict(hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2],
                                                                 decoder_hidden_size=16), lambda: dict(pixel_values=image(64), labels=labels(2, 64, 64))),
    "GPTNeoXForCausalLM": ("GPTNeoXConfig", DECODER, words),
    "DeepseekV3ForCausalLM": ("DeepseekV3Config", dict(num_key_value_heads=4, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1,
                                                       moe_intermediate_size=16, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, v_head_dim=8,
                                                       qk_nope_head_dim=8, first_k_dense_replace=1, **DECODER), words),
}
# Those that a loop of PyTorch trains by torch.compile, too: a kind each.
LOOPS = ["BertForSequenceClassification", "LlamaForCausalLM", "T5ForConditionalGeneration", "ResNetForImageClassification"]


def model_of(name):
    """A model without dropout, which is random."""
    config, settings, _ = MODELS[name]
    if not hasattr(transformers, name):
        pytest.skip(f"this release of transformers has no {name}")
    config = getattr(transformers, config)(**settings)
    for key, value in vars(config).items():
        if "drop" in key and isinstance(value, float):
            setattr(config, key, 0.0)
    torch.manual_seed(0)
    return getattr(transformers, name)(config).train()


def train(model, optimizer, batches, call):
    """The losses of a loop of PyTorch."""
    found = []
    for batch in batches:
        value = call(**batch).loss
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        found.append(value.detach())
    return torch.stack(found)


def check(name, run):
    """Trains a model in eager mode and its twin by a function of it, its optimizer and the batches."""
    model = model_of(name)
    twin = copy.deepcopy(model)
    batches = [MODELS[name][2]() for _ in range(2)]
    wanted = train(model, torch.optim.SGD(model.parameters(), lr=0.05), batches, model)
    got = run(twin, torch.optim.SGD(twin.parameters(), lr=0.05), batches)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
    for (key, a), b in zip(twin.state_dict().items(), model.state_dict().values()):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4, msg=lambda text: f"{key}: {text}")


@pytest.mark.parametrize("name", MODELS)
def test_a_training_step(name):

    def run(model, optimizer, batches):
        step = pando.torch.compile_step(model, None, optimizer)
        return torch.stack([step(batch) for batch in batches])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(name, run)


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop(name):
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(name, lambda model, optimizer, batches: train(model, optimizer, batches, torch.compile(model, backend="pando")))
