"use strict";
// Everything that comes from a run is put into the page as text, never as markup.
const page = (() => {
  const STEP = 60;
  const PRINTED = 200;
  const $ = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") node.addEventListener("click", value);
      else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const number = (value) => value.toLocaleString("en-US");
  const percent = (value) => value === null || value === undefined ? "" : value.toFixed(1) + " %";

  let findings = [];
  let apis = [];
  let matching = [];
  let drawn = 0;
  const hidden = new Set();
  let onlyApi = null;

  // Packed by gzip and written as base64: see `pack` of the program.
  const unpack = async (text) => {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
    const stream = new DecompressionStream("gzip");
    const writer = stream.writable.getWriter();
    // What is wrong with the data is told by the reading side.
    writer.write(bytes).catch(() => {});
    writer.close().catch(() => {});
    return new Response(stream.readable).json();
  };

  // What an opened finding shows besides its row stands in parts, each unpacked when it is needed.
  let partLength = 1;
  const parts = new Map();
  const unpackPart = (at) => {
    if (!parts.has(at)) parts.set(at, unpack(document.getElementsByClassName("details")[at].textContent).then((rows) => {
      rows.forEach((row, within) => { findings[at * partLength + within].detail = row; });
    }));
    return parts.get(at);
  };
  const partOf = (row) => Math.floor(row.at / partLength);
  // The dashboard asks the server instead.
  const source = {
    detail: async (row) => { if (!row.detail) await unpackPart(partOf(row)); return row.detail; },
    actions: () => [],
  };

  // --- findings ---

  const haystack = (finding) => {
    finding.text ??= [finding.id, finding.title, finding.call, finding.kind, finding.oracle, finding.observed, ...finding.also_through].join("\n").toLowerCase();
    return finding.text;
  };

  const wanted = () => {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const notes = $("notes").checked;
    const stable = $("stable").checked;
    return findings.filter((finding) =>
      (notes || !finding.note) && !(stable && finding.flaky) && !hidden.has(finding.kind) &&
      (onlyApi === null || finding.api === onlyApi || finding.also_through.includes(onlyApi)) &&
      words.every((word) => haystack(finding).includes(word)));
  };

  const copyButton = (text) => {
    const button = make("button", { class: "act", type: "button", onclick: async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // Pages opened from a file may not use the clipboard; the old way still works.
        const area = make("textarea");
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } }, "Copy");
    return button;
  };
  const block = (text) => make("div", { class: "block" }, make("pre", {}, text), copyButton(text));
  const diffBlock = (text) => {
    const pre = make("pre", {});
    for (const line of text.split("\n")) {
      const kind = line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : null;
      pre.append(make("span", { class: kind }, line + "\n"));
    }
    return make("div", { class: "block" }, pre, copyButton(text));
  };
  const part = (title, ...content) => make("div", {}, make("h3", {}, title), ...content);
  const table = (heads, rows) => make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map(([name, n]) => make("th", { class: n ? "n" : null }, name)))),
    make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell, at) => make("td", { class: heads[at][1] ? "n" : null }, cell)))))));
  const shortNumber = (text) => { const value = Number(text); return text === "" || !Number.isFinite(value) ? text : String(Number(value.toPrecision(5))); };
  const valuesOf = (argument) => make("div", { class: "values" }, ...argument.values.map((text) => make("code", { title: text }, shortNumber(text))));
  const matters = (argument) => argument.matters === null ? "" : argument.matters ? "yes" : "no";

  const body = (finding, detail) => {
    const out = make("div", { class: "body" });
    out.append(...source.actions(finding));
    out.append(make("div", { class: "both" },
      part("Observed", make("p", { class: "quote" }, finding.observed)),
      part("Expected", make("p", { class: "quote" }, detail.expected))));
    if (detail.arguments.length) {
      // Where nothing was changed alone, nothing is said of it.
      const tried = detail.arguments.some((one) => one.matters !== null);
      const numbers = detail.arguments.some((one) => one.values.length);
      out.append(part("Input", table([["argument"], ["value"], ...(tried ? [["matters"], ["changed alone"]] : []), ...(numbers ? [["in words"], ["first values"]] : [])],
        detail.arguments.map((one) => [make("code", {}, one.name), make("code", {}, one.value), ...(tried ? [matters(one), one.tried] : []), ...(numbers ? [one.tried, valuesOf(one)] : [])]))));
    }
    const facts = [...detail.explanation];
    if (finding.also_through.length) facts.push("The same through " + finding.also_through.join(", ") + ".");
    out.append(part("Explanation", make("ul", { class: "plain" }, ...facts.map((fact) => make("li", {}, fact)))));
    if (detail.fix) out.append(part("Fix (checked): " + detail.fix.title, diffBlock(detail.fix.diff)));
    out.append(part("Reproducer", block(detail.script)));
    out.append(part("Issue text", make("details", { class: "fold" }, make("summary", {}, "Show the bug report"), block(detail.issue))));
    if (detail.log) out.append(part("Log", make("details", { class: "fold" }, make("summary", {}, "Show the end of the log"), block(detail.log))));
    const place = detail.place ? detail.place + " · " : "";
    out.append(make("p", { class: "muted" }, place + detail.versions + " · oracle " + finding.oracle + " · " + detail.folder + " "));
    return out;
  };

  const show = (node, row, detail) => { if (!node.querySelector(".body")) node.append(body(row, detail)); };
  const open = async (node, row) => {
    if (node.querySelector(".body")) return;
    try {
      show(node, row, await source.detail(row));
    } catch (error) {
      node.append(make("p", { class: "problem body" }, "This finding cannot be shown: " + error.message));
    }
  };

  const rowOf = (finding, fresh) => {
    const node = make("details", { class: "finding" + (fresh ? " new" : ""), id: "finding-" + finding.id, "data-id": finding.id },
      make("summary", {},
        make("span", { class: "badge " + finding.kind + " " + finding.badge }, finding.badge.replaceAll("-", " ")),
        make("span", { class: "name" }, finding.title),
        make("span", { class: "marks" },
          ...[finding.note && "note", finding.flaky && "flaky", finding.unconfirmed && "not confirmed"].filter(Boolean).map((mark) => make("span", { class: "mark" }, mark)),
          make("span", { class: "chevron", "aria-hidden": "true" }, "›")),
        make(finding.code ? "code" : "span", { class: "call" }, finding.line),
        finding.advice ? make("span", { class: "call advice" }, "Look at: " + finding.advice) : null));
    node.addEventListener("toggle", () => { if (node.open) open(node, finding); });
    return node;
  };

  // Findings of one API stand together, at the place of the first of them.
  let groups = new Map();
  const groupByApi = () => {
    groups = new Map();
    if (!$("group").checked) return;
    const first = new Map();
    matching.forEach((finding, at) => {
      if (!first.has(finding.api)) first.set(finding.api, at);
      groups.set(finding.api, (groups.get(finding.api) ?? 0) + 1);
    });
    matching = matching.map((finding, at) => [first.get(finding.api), at, finding]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((row) => row[2]);
  };

  const draw = (upTo) => {
    const fragment = document.createDocumentFragment();
    for (; drawn < Math.min(upTo, matching.length); drawn++) {
      const api = matching[drawn].api;
      if (groups.get(api) > 1 && (drawn === 0 || matching[drawn - 1].api !== api)) {
        fragment.append(make("p", { class: "group" }, make("code", {}, api), " " + number(groups.get(api)) + " findings"));
      }
      fragment.append(rowOf(matching[drawn]));
    }
    $("list").append(fragment);
    $("more").hidden = drawn >= matching.length;
    $("more").textContent = "Show more (" + number(matching.length - drawn) + " left)";
  };

  const update = () => {
    const openIds = new Set([...document.querySelectorAll(".finding[open]")].map((node) => node.dataset.id));
    const before = drawn;
    matching = wanted();
    groupByApi();
    $("list").replaceChildren();
    drawn = 0;
    draw(Math.max(STEP, Math.min(before, 10 * STEP)));
    for (const node of document.querySelectorAll(".finding")) if (openIds.has(node.dataset.id)) node.open = true;
    const counted = findings.filter((finding) => !finding.note).length;
    $("shown").textContent = matching.length === findings.length || (matching.length === counted && !$("notes").checked) ? "" : number(matching.length) + " of " + number(findings.length) + " shown";
    $("none").hidden = matching.length > 0;
    $("none").textContent = findings.length === 0 ? ($("state").dataset.state === "not finished" ? "No finding so far." : $("none").dataset.empty) : counted === 0 && !$("notes").checked ? "Only notes, which the box above shows." : "Nothing fits the filter.";
    $("tools").hidden = findings.length === 0;
    if (document.querySelector(".details")) preparePrinting();
    $("api-filter").hidden = onlyApi === null;
    $("api-filter").replaceChildren();
    if (onlyApi !== null) $("api-filter").append("only ", make("code", {}, onlyApi), " ", make("button", { type: "button", onclick: () => { onlyApi = null; update(); } }, "all"));
  };

  const kinds = () => {
    const counts = new Map();
    for (const finding of findings) if (!finding.note) counts.set(finding.kind, (counts.get(finding.kind) ?? 0) + 1);
    $("kinds").replaceChildren(...[...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => {
      const button = make("button", { type: "button", "aria-pressed": String(!hidden.has(kind)), "data-kind": kind, onclick: () => {
        // The first choice narrows to one kind, later ones add or take away.
        const all = [...counts.keys()];
        if (hidden.size === 0) all.forEach((one) => { if (one !== kind) hidden.add(one); });
        else if (!hidden.delete(kind)) hidden.add(kind);
        if (all.every((one) => hidden.has(one))) hidden.clear();
        kinds();
        update();
      } }, kind.replaceAll("-", " ") + " " + number(count));
      return button;
    }));
  };

  // --- APIs ---

  const COLUMNS = [
    ["API", (api) => api.title, (api) => [make("code", {}, api.title)]],
    ["inputs", (api) => api.inputs, (api) => [number(api.inputs)]],
    ["valid accepted", (api) => api.conforming_percent ?? -1, (api) => meter(api.conforming_percent)],
    ["broken rejected", (api) => api.violating_rejected_percent ?? -1, (api) => [percent(api.violating_rejected_percent)]],
    ["accepted", (api) => api.accepted_percent ?? -1, (api) => [percent(api.accepted_percent)]],
    ["behaviours", (api) => api.reached.behaviours, (api) => [number(api.reached.behaviours)]],
    ["inputs/s", (api) => api.rate ?? -1, (api) => [api.rate === null ? "" : number(api.rate)]],
    ["findings", (api) => api.findings.length, (api) => [api.findings.length ? number(api.findings.length) : ""]],
    ["end", (api) => api.end ?? "", (api) => [(api.end ?? "under way").replaceAll("-", " ")]],
  ];
  const meter = (value) => {
    if (value === null || value === undefined) return [];
    const fill = make("i");
    fill.style.width = value + "%";
    return [make("span", { class: "meter" }, fill), percent(value)];
  };
  let sortBy = 7;
  let descending = true;
  let allApis = false;

  const drawApis = () => {
    const root = $("api-table");
    if (!root) return;
    const words = $("api-search").value.toLowerCase();
    const rows = apis.filter((api) => api.title.toLowerCase().includes(words));
    const key = COLUMNS[sortBy][1];
    rows.sort((a, b) => { const [x, y] = [key(a), key(b)]; return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1) || (a.title < b.title ? -1 : 1); });
    const visible = allApis ? rows : rows.slice(0, STEP);
    $("apis-shown").textContent = visible.length < apis.length ? number(visible.length) + " of " + number(apis.length) : "";
    $("more-apis").hidden = visible.length === rows.length;
    root.replaceChildren(
      make("thead", {}, make("tr", {}, ...COLUMNS.map(([name], at) => make("th", { class: at > 0 && at < 8 ? "n" : null, scope: "col", "aria-sort": at === sortBy ? (descending ? "descending" : "ascending") : null, onclick: () => { descending = at === sortBy ? !descending : at > 0; sortBy = at; drawApis(); } }, name)))),
      make("tbody", {}, ...visible.map((api) => make("tr", { tabindex: "0", "data-api": api.title, onclick: () => showApi(api) }, ...COLUMNS.map(([, , cell], at) => make("td", { class: at > 0 && at < 8 ? "n" : null }, ...cell(api)))))));
  };

  const showApi = (api) => {
    const root = $("api-detail");
    const counts = (one) => [number(one.inputs), number(one.accepted), number(one.rejected)];
    const heads = [["inputs", 1], ["accepted", 1], ["rejected", 1]];
    root.replaceChildren(...[
      make("h2", {}, make("code", {}, api.title), " ", make("button", { type: "button", onclick: () => root.replaceChildren() }, "close")),
      make("p", { class: "legend" }, ...Object.entries(api.outcomes).map(([kind, count]) => make("span", {}, make("i", { class: "dot " + kind }), kind.replaceAll("-", " ") + " ", make("b", {}, number(count))))),
      api.findings.length + api.notes.length ? make("p", {}, make("button", { type: "button", onclick: () => { onlyApi = api.title; $("notes").checked = api.findings.length === 0; update(); location.hash = "#findings"; } }, "Show its " + number(api.findings.length + api.notes.length) + " findings and notes")) : null,
      api.rejections.length ? part("Reasons for rejection", table([["message"], ["inputs", 1]], api.rejections.slice(0, 20).map(([reason, count]) => [reason, number(count)]))) : null,
      api.constraints.length ? part("Inputs that break one constraint", table([["parameter"], ["category"], ...heads], api.constraints.map((one) => [make("code", {}, one.param), one.category, ...counts(one)]))) : null,
      api.mutators.length ? part("Boundary cases", table([["parameter"], ["mutator"], ...heads], api.mutators.map((one) => [make("code", {}, one.param), one.mutator.replaceAll("_", " "), ...counts(one)]))) : null,
      Object.keys(api.oracles).length ? part("Oracles", table([["oracle"], ["inputs", 1], ["reports", 1], ["seconds", 1]], Object.entries(api.oracles).map(([name, one]) => [name, number(one.inputs), number(one.reports), one.seconds.toFixed(2)]))) : null,
    ].filter(Boolean));
    root.scrollIntoView({ block: "nearest" });
  };

  // --- printing ---

  // A browser does not wait before it prints, so what would be printed is unpacked when the page rests.
  const printed = () => matching.slice(0, PRINTED);
  let prepared;
  const preparePrinting = () => {
    clearTimeout(prepared);
    const wantedParts = [...new Set(printed().map(partOf))];
    const next = () => {
      if (wantedParts.length) unpackPart(wantedParts.shift()).then(() => { prepared = setTimeout(next); });
    };
    prepared = setTimeout(next, 1000);
  };
  const beforePrint = () => {
    draw(PRINTED);
    for (const [at, node] of [...document.querySelectorAll(".finding")].entries()) {
      if (at < PRINTED && matching[at].detail) {
        show(node, matching[at], matching[at].detail);
        node.open = true;
      }
    }
    for (const node of document.querySelectorAll("details.fold")) node.open = true;
    $("printed").hidden = matching.length <= PRINTED;
    $("printed").textContent = "The first " + number(Math.max(drawn, PRINTED)) + " of " + number(matching.length) + " findings are printed, the first " + PRINTED + " of them with details; the filter chooses others.";
  };

  const setFindings = (rows) => { findings = rows; kinds(); update(); };
  const setApis = (rows) => { apis = rows; drawApis(); };

  // A finding that an address names may be far down the list.
  const goTo = (id) => {
    if (!findings.some((finding) => finding.id === id)) return;
    if (!document.getElementById("finding-" + id)) { $("notes").checked = true; $("search").value = id; update(); }
    const node = document.getElementById("finding-" + id);
    node.open = true;
    node.scrollIntoView();
  };

  const load = async (text) => {
    const lists = await unpack(text);
    partLength = lists.part;
    lists.findings.forEach((row, at) => { row.at = at; });
    setFindings(lists.findings);
    setApis(lists.apis);
    if (location.hash.startsWith("#finding-")) goTo(decodeURIComponent(location.hash.slice("#finding-".length)));
  };

  const start = async () => {
    let timer;
    const soon = () => { clearTimeout(timer); timer = setTimeout(update, 80); };
    $("search").addEventListener("input", soon);
    for (const id of ["notes", "stable", "group"]) $(id).addEventListener("change", update);
    $("more").addEventListener("click", () => draw(drawn + 4 * STEP));
    if ($("api-table")) {
      $("api-search").addEventListener("input", drawApis);
      $("more-apis").addEventListener("click", () => { allApis = true; drawApis(); });
      $("api-table").addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.dataset.api) event.target.click(); });
    }
    window.addEventListener("beforeprint", beforePrint);
    const packed = $("lists").textContent;
    if (packed) {
      try {
        await load(packed);
      } catch (error) {
        $("none").hidden = false;
        $("none").textContent = "The findings cannot be unpacked (" + error.message + "): a browser of 2023 or later is needed. Each finding is also a folder of the run: findings/.";
      }
    }
    document.documentElement.dataset.ready = "yes";
    performance.mark("ready");
  };
  return { $, make, number, source, setFindings, setApis, start, list: () => findings };
})();
page.start();
