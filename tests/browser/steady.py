"""How steady a page is: what moved while it came, and what does not fit where it stands."""

from tests.browser.running import settle

SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => window.shifts.push(...list.getEntries().filter((entry) => !entry.hadRecentInput)
    .map((entry) => [entry.value, ...entry.sources.slice(0, 3).map(({node}) => node?.outerHTML?.slice(0, 160))])))
    .observe({type: "layout-shift", buffered: true});"""
"""Put into a page before it is opened: every layout shift, with what moved."""

OVERFLOW = """() => {
    const found = [], wide = window.innerWidth >= 1000;
    for (const box of [document.querySelector('[data-testid="stMain"]'), document.documentElement]) {
        const over = box.scrollWidth - box.clientWidth;
        if (over > 1) found.push(`${box.tagName} scrolls sideways by ${over} pixels`);
    }
    for (const chart of document.querySelectorAll('[data-testid="stPlotlyChart"]')) {
        const card = chart.closest('[data-testid="stElementContainer"]');
        const svg = chart.querySelector('.main-svg').getBoundingClientRect();
        const over = svg.width - card.clientWidth;
        if (wide && over > 1) found.push(`${card.className}: the chart is ${over} pixels wider than its card`);
        for (const text of chart.querySelectorAll('.main-svg text')) {
            const box = text.getBoundingClientRect();
            if (!box.width || getComputedStyle(text).visibility === 'hidden') continue;
            const cut = Math.max(
                box.right - svg.right, svg.left - box.left, box.bottom - svg.bottom, svg.top - box.top);
            if (cut > 1) found.push(`${card.className}: "${text.textContent}" is cut by ${Math.round(cut)} pixels`);
        }
    }
    if (wide) for (const table of document.querySelectorAll('.bs .scroll')) {
        const over = table.scrollWidth - table.clientWidth;
        if (over > 1 && !table.closest('[data-testid="stColumn"]'))
            found.push(`${table.firstChild.ariaLabel}: the table scrolls sideways by ${over} pixels`);
    }
    return found;
}"""
"""A page that scrolls sideways, text that a chart cuts; at 1000 pixels and more what is wider than its own box too."""

ZOOMED = 853
"""How many pixels a projector of 1280 has at 150 %."""


def shift(page):
    """The sum of a page's layout shifts since it was opened, which Chromium's CLS never exceeds, and the largest."""
    shifts = page.evaluate("() => window.shifts")
    return sum(value for value, *_ in shifts), sorted(shifts, key=lambda entry: entry[0], reverse=True)[:3]


def overflow(page):
    """What does not fit, as the window is and on a zoomed projector; the window is as it was afterwards."""
    before, found = page.viewport_size, page.evaluate(OVERFLOW)
    page.set_viewport_size({"width": ZOOMED, "height": before["height"]})
    settle(page)
    found += page.evaluate(OVERFLOW)
    page.set_viewport_size(before)
    return found
