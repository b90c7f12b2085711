"""A chat endpoint on this machine that answers as it is told to."""

import json
import re
import threading

from analysis.benchmarks.query_prompts import CRITERIA
from tests.json_server import JsonServer


def written(user):
    """What a model writes for a candidate's prompt: its angle and the first words of the text."""
    angle = re.search(r"Ask for it by (\w+ \w+ \w+ \w+)", user).group(1)
    text = user.split("<text>\n")[1]
    return json.dumps({"query": f"{angle} {' '.join(text.split()[:4])}"}, ensure_ascii=False)


def judged(user):
    """What a verifier gives: the candidate that asks by use is the best."""
    return json.dumps(dict.fromkeys(CRITERIA, 5 if "what it is used" in user.split("<query>")[1] else 4))


def answered(body):
    user = body["messages"][1]["content"]
    text = judged(user) if "<query>" in user else written(user)
    return {"choices": [{"message": {"content": text}}], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


class ChatServer(JsonServer):
    def __init__(self):
        self.most = None  # requests answered before it falls silent
        self.go = threading.Event()  # ends the silence
        super().__init__(self.answered)
        self.http.handle_error = lambda *_: None  # who asked may have been killed

    def answered(self, body):
        if self.most is not None and len(self.asked) > self.most:
            self.go.wait()
        return answered(body)

    def close(self):
        self.go.set()
        super().close()
