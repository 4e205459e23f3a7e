"use strict";
(function () {
  const table = JSON.parse(document.getElementById("lookup").textContent);
  const slider = document.getElementById("delta");
  const marker = document.getElementById("delta-marker");
  const shown = document.getElementById("delta-bound");
  const status = document.getElementById("delta-status");
  function show() {
    const k = Number(slider.value);
    const recorded = k === table.recorded;
    marker.style.left = table.x[k] + "%";
    marker.style.bottom = table.y[k] + "%";
    document.getElementById("delta-value").textContent = table.delta[k];
    shown.textContent = table.bound[k];
    slider.setAttribute("aria-valuetext", "delta " + table.delta[k] + ", bound " + table.bound[k]);
    status.textContent = recorded ? "This is the promise." : "Not promised.";
    status.className = recorded ? "chip good" : "chip warn";
  }
  slider.max = table.x.length - 1;
  slider.value = table.recorded;
  slider.disabled = false;
  slider.addEventListener("input", show);
  document.getElementById("delta-back").addEventListener("click", function () {
    slider.value = table.recorded;
    show();
  });
  show();

  document.querySelectorAll(".choose").forEach(function (box) {
    const points = table.choices[Number(box.dataset.choice)];
    const chooser = box.querySelector("input");
    function choose() {
      const k = Number(chooser.value);
      const dot = box.querySelector(".marker");
      dot.style.left = points.x[k] + "%";
      dot.style.bottom = points.y[k] + "%";
      box.querySelector(".threshold").textContent = points.threshold[k];
      box.querySelector(".answered").textContent = points.answered[k];
      box.querySelector(".wrong").textContent = points.wrong[k];
      box.querySelector(".seen-there").textContent = points.seen[k];
      chooser.setAttribute(
        "aria-valuetext",
        "answer " + points.threshold[k] + ": at least " + points.answered[k] + " answered, at most " +
          points.wrong[k] + " wrong"
      );
    }
    chooser.max = points.x.length - 1;
    chooser.value = points.start;
    chooser.disabled = false;
    chooser.addEventListener("input", choose);
    choose();
  });
})();
