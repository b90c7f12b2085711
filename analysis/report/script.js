"use strict";
(() => {
  const found = JSON.parse(document.getElementById("drawings").textContent);
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const paper = 1000; // pixels between the margins of a printed page
  const shown = {
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: ["zoom2d", "pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d"],
    toImageButtonOptions: { format: "svg", filename: "babelscope" },
  };
  const family = getComputedStyle(document.body).fontFamily;
  let wanted = 0;

  function draw(number, dark, width) {
    const { data, layout } = found.charts[number][dark ? 1 : 0];
    const sized = width ? { width, autosize: false } : { autosize: true };
    const font = { ...layout.font, family };
    const whole = { ...layout, ...sized, font, template: found.template };
    return Plotly.react(`chart-${number}`, structuredClone(data), structuredClone(whole), shown);
  }

  // One chart a frame, so that the page can be read meanwhile; a newer wish ends an older one.
  function drawAll() {
    const mine = ++wanted;
    const next = (number) => {
      if (mine !== wanted || number >= found.charts.length) return;
      draw(number, night.matches);
      requestAnimationFrame(() => next(number + 1));
    };
    next(0);
  }

  night.addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => {
    wanted += 1;
    document.querySelectorAll("details").forEach((one) => one.setAttribute("open", ""));
    found.charts.forEach((_, number) => draw(number, false, paper));
  });
  window.addEventListener("afterprint", drawAll);
  drawAll();
})();
