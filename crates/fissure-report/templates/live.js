"use strict";
// Follows a run: the server says that something changed, and what is shown is asked for anew.
(() => {
  const { $, make, source } = page;
  const token = new URLSearchParams(location.search).get("token");
  const address = (path) => token ? path + (path.includes("?") ? "&" : "?") + "token=" + encodeURIComponent(token) : path;
  const get = async (path) => {
    const answer = await fetch(address(path));
    if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
    return answer.json();
  };
  source.detail = (row) => get("api/findings/" + encodeURIComponent(row.id));
  source.actions = (finding) => {
    const result = make("p", { class: "result", role: "status" });
    const button = make("button", { type: "button", class: "replay", onclick: async () => {
      button.disabled = true;
      result.textContent = "Running its script in a fresh process …";
      try {
        const answer = await fetch(address("api/findings/" + encodeURIComponent(finding.id) + "/replay"), { method: "POST", headers: { "X-Fissure": "replay" } });
        const text = await answer.text();
        if (!answer.ok) throw new Error(text || answer.statusText);
        const replay = JSON.parse(text);
        result.textContent = "Now: " + replay.outcome + (replay.detail ? " (" + replay.detail + ")" : "") + ".";
      } catch (error) {
        result.textContent = "It was not run: " + error.message;
      }
      button.disabled = false;
    } }, "Replay");
    return [make("p", {}, button), result];
  };

  let ended = false;
  let open = false;
  const connected = () => {
    if (!open) return;
    $("connection").textContent = ended ? "the run has ended" : "live";
    if (ended) delete $("connection").dataset.live; else $("connection").dataset.live = "";
  };
  let seen = null;
  let findingsChanged = true;
  const fill = async () => {
    const parts = await get("api/parts");
    // These come from the server's templates, which escape everything that a run brings.
    $("overview").innerHTML = parts.overview;
    $("pictures").innerHTML = parts.charts;
    $("tables").innerHTML = parts.tables;
    $("state").textContent = parts.state;
    $("state").dataset.state = parts.state;
    // Nothing is live any more when the run has ended.
    ended = parts.state !== "not finished";
    connected();
    page.setApis(await get("api/apis"));
    if (!findingsChanged) return;
    findingsChanged = false;
    const first = document.documentElement.dataset.filled === undefined;
    const known = new Set(page.list().map((finding) => finding.id));
    const rows = await get("api/findings");
    page.setFindings(rows);
    document.documentElement.dataset.filled = "yes";
    const counted = rows.filter((row) => !row.note).length;
    document.title = counted + (counted === 1 ? " finding" : " findings") + " · " + document.title.split(" · ").slice(1).join(" · ");
    if (!first) for (const row of rows) if (!known.has(row.id)) document.getElementById("finding-" + row.id)?.classList.add("new");
  };

  let busy = false;
  let again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      await fill();
    } catch (error) {
      findingsChanged = true;
      $("connection").textContent = "not up to date: " + error.message;
    }
    busy = false;
    if (again) { again = false; setTimeout(refresh, 300); }
  };

  const events = new EventSource(address("api/events"));
  events.addEventListener("open", () => { open = true; connected(); seen = null; });
  events.addEventListener("change", (event) => {
    const now = JSON.parse(event.data);
    findingsChanged ||= seen === null || seen.findings !== now.findings || seen.generation !== now.generation;
    seen = now;
    refresh();
  });
  events.addEventListener("error", () => { open = false; $("connection").textContent = "the server is gone: trying again"; delete $("connection").dataset.live; });
})();
