"""The app as a browser sees it, without one."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from analysis import jobs
from analysis.jobs import JobState

ROOT = Path(__file__).resolve().parents[2]


class Visit:
    """Opens pages of the cache folder in the environment."""

    def page(self, name, **parameters):
        """A page on its own, as a deep link on a cold server runs it."""
        return self._open(ROOT / "pages" / f"{name}.py", parameters)

    def app(self, **parameters):
        """The whole app, from its router."""
        return self._open(ROOT / "router.py", parameters)

    def _open(self, script, parameters):
        app = AppTest.from_file(str(script), default_timeout=120)
        for key, value in parameters.items():
            app.query_params[key] = value
        return app.run()


class PlayedJob:
    """Stands in for a job: what it says is set by the test, and what the page asks of it is kept."""

    def __init__(self, name):
        self.name = name
        self.said = None
        self.asked = []
        self.dies = False

    def begin(self):
        self.asked.append("start")
        self.said = None if self.dies else job("running", "start", name=self.name)


def job(status, step, *, done=0, total=0, message=None, name=jobs.FIRST_START):
    """What a job says of itself."""
    return JobState(name, status, step, done, total, 50.0, 12.0, 75.0, (("read titles", 2.0),), message)


def words(app):
    """Everything a page says, tables included."""
    spoken = [*app.title, *app.header, *app.subheader, *app.error, *app.warning]
    return " ".join([*(element.proto.body for element in app.get("html")), *(element.value for element in spoken)])


def parameters(app):
    """The address of a page after its question mark."""
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}
