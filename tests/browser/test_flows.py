"""The main flows, clicked through in Chromium over real results."""

import json
import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.running import app, settle

CELL = """([system, source, target]) => {
    const figure = document.querySelector('.js-plotly-plot');
    for (const trace of figure._fullData) {
        if (!trace.customdata) continue;
        const at = trace.customdata.findIndex((d) => d[0] === system && d[1] === source && d[2] === target);
        if (at < 0) continue;
        const x = figure._fullLayout[trace.xaxis.replace('x', 'xaxis')];
        const y = figure._fullLayout[trace.yaxis.replace('y', 'yaxis')];
        const box = figure.getBoundingClientRect();
        return [box.left + x._offset + x.d2p(trace.x[at]), box.top + y._offset + y.d2p(trace.y[at])];
    }
    return null;
}"""


INFARCTION = re.compile(
    "Acute myocardial infarction|Infarto agudo del miocardio|Infarctus aigu du myocarde|Akuter Myokardinfarkt"
    "|急性心肌梗死|急性心筋梗塞"
)


def click_cell(page, system, source, target):
    page.wait_for_function(DRAWN, arg=1, timeout=60_000)
    page.locator(".js-plotly-plot").first.scroll_into_view_if_needed()
    x, y = page.evaluate(CELL, [system, source, target])
    page.mouse.move(x - 3, y - 3)
    page.mouse.move(x, y, steps=4)
    page.wait_for_timeout(300)
    page.mouse.click(x, y)


def heading(page):
    return page.locator("h1").first


def test_clicking_a_cell_lands_on_the_failing_queries(visit, running_app):
    page = visit(f"{running_app}/routes?task=category&systems=all-minilm-l6-v2,use-multilingual-v3")
    expect(heading(page)).to_have_text("Which language pairs fail?", timeout=60_000)
    settle(page)
    click_cell(page, "all-minilm-l6-v2", "en", "ja")
    title = page.get_by_role("heading", name=re.compile(r"en → ja · all-MiniLM · \d+ of \d+ queries fail"))
    expect(title).to_be_visible(timeout=30_000)
    table = page.locator("table").last
    expect(table).to_contain_text("Try")
    assert table.locator("tbody tr").count() > 5
    assert re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", table.inner_text())  # the answers in their own script
    assert "route=en" in page.url
    assert "system=all-minilm-l6-v2" in page.url


def test_the_select_box_does_what_the_click_does(visit, running_app):
    page = visit(f"{running_app}/routes?task=category&systems=all-minilm-l6-v2,use-multilingual-v3")
    settle(page)
    page.get_by_role("combobox", name=re.compile("Look at a route")).click()
    page.get_by_role("option", name="English → Japanese").click()
    expect(page.get_by_role("heading", name=re.compile("en → ja · all-MiniLM"))).to_be_visible(timeout=30_000)


def test_heart_attack_in_six_languages(visit, running_app):
    page = visit(f"{running_app}/probe?encoder=use-multilingual-v3")
    expect(heading(page)).to_have_text("What happens to my query?", timeout=60_000)
    table = page.locator("table").first
    expect(table).to_be_visible(timeout=120_000)
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(6)
    for text in ("heart attack", "ataque al corazón", "crise cardiaque", "Herzinfarkt", "心脏病发作", "心臓発作"):
        expect(table).to_contain_text(text)
    for place in range(6):  # acute myocardial infarction, in whichever language it comes first
        expect(rows.nth(place)).to_contain_text(INFARCTION)


def test_a_deep_link_restores_the_view(visit, running_app):
    address = "routes?task=parallel-titles&systems=use-multilingual-v3&measure=recall_at_25&route=fr%2Cde"
    page = visit(f"{running_app}/{address}")
    expect(page.get_by_role("heading", name=re.compile("fr → de · USE multilingual"))).to_be_visible(timeout=60_000)
    expect(page.locator("body")).to_contain_text("R@25 by query language")
    settle(page)
    assert page.url.endswith(address)
    page.get_by_role("link", name="Overview").click()
    expect(heading(page)).to_contain_text("Which system", timeout=60_000)
    assert "task=parallel-titles" in page.url
    expect(page.locator("body")).to_contain_text("no answer", ignore_case=True)


def test_the_page_shows_what_the_command_line_prints(visit, running_app, real_store, capsys):
    from analysis.cli import main

    arguments = [
        "routes",
        "--benchmark",
        "icd10",
        "--task",
        "category",
        "--system",
        "all-minilm-l6-v2",
        "--format",
        "json",
    ]
    main([*arguments, "--cache", str(real_store)])
    printed = {
        (cell["query_language"], cell["document_language"]): cell["value"]
        for cell in json.loads(capsys.readouterr().out)["cells"]
    }
    page = visit(f"{running_app}/routes?task=category&systems=all-minilm-l6-v2")
    page.wait_for_function(DRAWN, arg=1, timeout=60_000)
    marks = page.evaluate("""() => document.querySelector('.js-plotly-plot')._fullData
        .filter((trace) => trace.customdata)
        .flatMap((trace) => Array.from(trace.customdata, (d, at) => [d[1], d[2], trace.hovertext[at]]))""")
    drawn = {(source, target): float(re.search(r"\d\.\d{4}", words).group()) for source, target, words in marks}
    assert len(drawn) == 36
    assert drawn == pytest.approx(printed, abs=5.1e-5)  # the hover carries four decimals


def test_two_sessions_do_not_disturb_each_other(visit, running_app):
    first = visit(f"{running_app}/routes?task=category&systems=all-minilm-l6-v2")
    second = visit(f"{running_app}/routes?task=parallel-titles&systems=use-multilingual-v3&measure=recall_at_1")
    for page in (first, second):
        settle(page)
    click_cell(first, "all-minilm-l6-v2", "en", "ja")
    click_cell(second, "use-multilingual-v3", "de", "fr")
    expect(first.get_by_role("heading", name=re.compile("en → ja · all-MiniLM"))).to_be_visible(timeout=30_000)
    expect(second.get_by_role("heading", name=re.compile("de → fr · USE multilingual"))).to_be_visible(timeout=30_000)
    assert "task=category" in first.url
    assert "measure=recall_at_1" in second.url


def test_a_wrong_link_says_so_in_one_sentence(visit, running_app):
    page = visit(f"{running_app}/routes?benchmark=nope")
    expect(page.get_by_role("alert")).to_contain_text("nknown benchmark 'nope'", timeout=60_000)


QUICK = ("BM25", "BM25 CJK", "USE multilingual", "RRF BM25 + USE")
SLOW = ("all-MiniLM", "MaxSim all-MiniLM", "USE → MaxSim")
TASKS = ("Alignment", "Discrimination", "Evidence")


def test_without_network_the_first_start_ends_at_three_tasks_of_every_system(
    chrome, no_network, tmp_path, bedside_vectors
):
    cache, (environment, tried) = tmp_path / "cache", no_network
    with app(cache, tmp_path / "log", environment=environment) as url:
        first = chrome.new_page()
        first.goto(url)
        expect(first.get_by_role("progressbar").first).to_be_visible(timeout=60_000)
        expect(first.locator("body")).to_contain_text("Bedside")
        first.wait_for_url("**/overview**")
        second = chrome.new_page()  # another browser sees the same job
        second.goto(f"{url}/routes")
        expect(second.get_by_role("progressbar").first).to_be_visible(timeout=60_000)
        second.close()
        first.reload()  # and a refresh does not stop it
        body = first.locator("body")
        expect(body).to_contain_text("has the highest MMed-IR", timeout=200_000)  # of the quick systems
        expect(heading(first)).to_contain_text("Which system")
        expect(body).to_contain_text("More systems are being run")
        for name in (*TASKS, *QUICK):
            expect(body).to_contain_text(name)
        expect(body).not_to_contain_text("More systems are being run", timeout=400_000)
        settle(first)
        table = first.locator("table").first
        for name in (*TASKS, *QUICK, *SLOW):
            expect(table).to_contain_text(name)
        for task in ("t1-alignment", "t2-discrimination", "t3-evidence"):
            first.goto(f"{url}/fairness?task={task}")
            for language in ("en", "es", "fr", "ja", "zh", "ru"):
                expect(first.locator("table").first).to_contain_text(language, timeout=60_000)
        job = json.loads((cache / "jobs" / "first-start.json").read_text())
        assert job["status"] == "done"
        steps = [step for step, _ in job["finished"]]
        assert steps.count("store the benchmark") == 1  # built once, not twice
        assert steps.count("encode USE multilingual") == len(TASKS)  # and nothing encoded twice
        first.close()
    assert not tried.exists(), tried.read_text()
    shutil.copytree(cache / "embeddings", cache / "copied")
    (cache / "copied").rename(bedside_vectors)


def test_the_first_start_can_be_cancelled_and_taken_up_again(chrome, tmp_path):
    cache = tmp_path / "cache"
    with app(cache, tmp_path / "log") as url:
        page = chrome.new_page()
        page.goto(url)
        page.get_by_role("button", name="Cancel").click(timeout=60_000)
        again = page.get_by_role("button", name=re.compile("Try again|Finish the first build"))
        expect(again).to_be_visible(timeout=60_000)
        assert json.loads((cache / "jobs" / "first-start.json").read_text())["status"] == "cancelled"
        again.click()
        expect(page.get_by_role("progressbar").first).to_be_visible(timeout=60_000)
        page.get_by_role("button", name="Cancel").click(timeout=60_000)
        expect(again).to_be_visible(timeout=60_000)
        page.close()


DRAWN = """(count) => Array.from(document.querySelectorAll('.js-plotly-plot'))
    .filter((one) => one._fullData?.length && one.querySelector('.main-svg')).length >= count"""
BAR = """([line, relation, language]) => {
    const figure = Array.from(document.querySelectorAll('.js-plotly-plot')).find(
        (one) => one._fullData?.some((trace) => trace.type === 'bar' && trace.customdata?.some((d) => d[0] === line)));
    const trace = figure._fullData.find(
        (one) => one.customdata?.[0]?.[1] === relation && one.customdata[0][2] === language);
    const at = trace.customdata.findIndex((d) => d[0] === line);
    const before = figure._fullData.slice(0, figure._fullData.indexOf(trace)).reduce((sum, one) => sum + one.x[at], 0);
    figure.scrollIntoView({block: 'center'});
    const box = figure.getBoundingClientRect();
    const {xaxis, yaxis} = figure._fullLayout;
    const middle = before + trace.x[at] / 2;
    return [box.left + xaxis._offset + xaxis.d2p(middle), box.top + yaxis._offset + yaxis.d2p(trace.y[at])];
}"""


def test_clicking_what_stands_at_rank_1_shows_its_queries(visit, running_app):
    page = visit(f"{running_app}/tiers?task=discrimination&systems=all-minilm-l6-v2,use-multilingual-v3")
    expect(heading(page)).to_have_text("What does it confuse?", timeout=60_000)
    settle(page)
    page.wait_for_function(DRAWN, arg=3, timeout=60_000)
    part = ["USE multilingual", "same concept", "other"]
    page.evaluate(BAR, part)  # scrolls there
    page.wait_for_timeout(500)
    x, y = page.evaluate(BAR, part)
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y, steps=4)
    page.wait_for_timeout(300)
    page.mouse.click(x, y)
    title = page.get_by_role(
        "heading", name=re.compile(r"USE multilingual · same concept, in another language · \d+ queries")
    )
    expect(title).to_be_visible(timeout=30_000)
    assert "outcome=same" in page.url


TWO_SYSTEMS = """([a, b]) => {
    for (const figure of document.querySelectorAll('.js-plotly-plot')) {
        for (const trace of figure._fullData || []) {
            const at = trace.customdata?.findIndex((d) => d.length === 2 && d[0] === a && d[1] === b) ?? -1;
            if (at < 0) continue;
            figure.scrollIntoView({block: 'center'});
            const box = figure.getBoundingClientRect();
            const {xaxis, yaxis} = figure._fullLayout;
            const [x, y] = [xaxis.d2p(trace.x[at]), yaxis.d2p(trace.y[at])];
            return [box.left + xaxis._offset + x, box.top + yaxis._offset + y];
        }
    }
    return null;
}"""


def test_clicking_two_systems_says_whether_their_difference_is_real(visit, running_app):
    page = visit(f"{running_app}/significance?task=parallel-titles")
    expect(heading(page)).to_have_text("Is it real?", timeout=60_000)
    settle(page)
    page.wait_for_function(DRAWN, arg=3, timeout=60_000)
    pair = ["bm25", "all-minilm-l6-v2"]
    page.evaluate(TWO_SYSTEMS, pair)  # scrolls there
    page.wait_for_timeout(500)
    x, y = page.evaluate(TWO_SYSTEMS, pair)
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y, steps=4)
    page.wait_for_timeout(300)
    page.mouse.click(x, y)
    sentence = page.get_by_text(re.compile(r"all-MiniLM is ahead of BM25 at R@10 by 0\.\d\d \(95 % interval"))
    expect(sentence).to_be_visible(timeout=30_000)
    expect(page.locator("body")).to_contain_text("(Benjamini–Hochberg)")
    expect(page.get_by_role("combobox", name=re.compile("Compare"))).to_be_visible()
    assert "a=bm25" in page.url
    assert "b=all-minilm-l6-v2" in page.url


def test_moving_the_slider_moves_the_sentence(visit, running_app):
    page = visit(f"{running_app}/recoverability?task=category&systems=all-minilm-l6-v2,use-multilingual-v3")
    expect(heading(page)).to_have_text("Would a re-ranker fix it?", timeout=60_000)
    settle(page)
    takeaway = page.locator("p.takeaway").first
    expect(takeaway).to_contain_text("A top-75 re-ranker of")  # the runs are 90 deep
    before = takeaway.inner_text()
    page.get_by_role("slider").focus()
    for _ in range(4):  # 50, 30, 20, 10
        page.keyboard.press("ArrowLeft")
    expect(takeaway).to_contain_text("A top-10 re-ranker of", timeout=30_000)
    assert re.findall(r"at most ([\d.]+) %", takeaway.inner_text()) != re.findall(r"at most ([\d.]+) %", before)
    expect(page.get_by_role("heading", name="Where the answer stands at K = 10")).to_be_visible(timeout=30_000)
    expect(page.locator("table").first).to_contain_text("RRC@10")
    assert "k=10" in page.url
