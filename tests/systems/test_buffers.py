import json

import pytest

from analysis.errors import SystemLoadError
from analysis.systems import encoders
from analysis.systems.weights import LoadOptions
from tests.systems import tiny_models

CODE = """
import torch
from transformers import BertConfig, BertModel


class MineConfig(BertConfig):
    model_type = "mine"


class Mine(BertModel):
    config_class = MineConfig

    def __init__(self, config, **more):
        super().__init__(config, **more)
        self.register_buffer("angles", TABLE, persistent=False)

    def _init_weights(self, module):
        super()._init_weights(module)
        AGAIN

    def forward(self, *rest, **more):
        found = super().forward(*rest, **more)
        found.last_hidden_state = found.last_hidden_state * (1 + self.angles.float().abs().clamp(max=9).sum())
        return found
"""
ANEW = "module.angles.copy_(TABLE) if module is self else None"


@pytest.mark.parametrize("table", ["torch.arange(8) * 1.5", "torch.arange(8)"])
def test_what_the_code_of_a_model_computes_must_be_there_after_a_load(extend_catalogue, tmp_path, monkeypatch, table):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    for name, again in (("left", "pass"), ("anew", ANEW)):
        folder = tmp_path / name
        tiny_models.backbone(folder, architecture="bert", dimension=32, positions=64)
        config = json.loads((folder / "config.json").read_text())
        code = {"AutoConfig": "modeling_mine.MineConfig", "AutoModel": "modeling_mine.Mine"}
        (folder / "config.json").write_text(json.dumps({**config, "auto_map": code, "model_type": "mine"}))
        (folder / "modeling_mine.py").write_text(CODE.replace("AGAIN", again).replace("TABLE", table))
    own = {"backend": "sentence-transformers", "dimension": 32, "pooling": "mean", "trust_remote_code": True}
    options = LoadOptions(offline=True, trust_remote_code=True, threads=1)
    assert encoders.load(extend_catalogue("anew", **own, folder=tmp_path / "anew"), options).dimension == 32
    with pytest.raises(SystemLoadError, match=r"left: its code computes .*angles, which the installed transf"):
        encoders.load(extend_catalogue("left", **own, folder=tmp_path / "left"), options)
