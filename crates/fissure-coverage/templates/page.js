"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const tables = document.getElementById("tables");
const search = document.getElementById("search");
const MOST = 300;
const kinds = [
  ["APIs", ["API", "blocks", "only here"], data.apis],
  ["Modules", ["module", "blocks", "of", "functions", "of"],
    data.modules.map((it) => [it.module, it.reached_blocks, it.blocks, it.reached_functions, it.functions])],
  ["Namespaces", ["namespace", "blocks", "of", "functions", "of"],
    data.namespaces.map((it) => [it.namespace, it.reached_blocks, it.blocks, it.reached_functions, it.functions])],
  ["Functions reached", ["function", "blocks", "of"],
    data.functions.map((it) => [it.function, it.reached_blocks, it.blocks])],
  ["Never reached, beside those", ["function", "blocks"], data.untouched.map((it) => [it.function, it.blocks])],
];
function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  tables.replaceChildren();
  for (const kind of kinds) {
    const [title, header, rows] = kind;
    const found = rows.filter((row) => words.every((word) => row[0].toLowerCase().includes(word)));
    if (!found.length) continue;
    tables.append(element("h2", `${title} (${found.length})`));
    const table = element("table");
    const head = element("tr");
    header.forEach((name, column) => {
      const cell = element("th", name);
      cell.onclick = () => {
        const sign = kind.sorted === column ? -1 : 1;
        kind.sorted = sign === 1 ? column : undefined;
        rows.sort((a, b) => sign * (column ? b[column] - a[column] : a[0].localeCompare(b[0])));
        show();
      };
      head.append(cell);
    });
    table.append(head);
    for (const row of found.slice(0, MOST)) {
      const line = element("tr");
      for (const cell of row) line.append(element("td", cell));
      table.append(line);
    }
    tables.append(table);
    if (found.length > MOST) tables.append(element("p", `… ${found.length - MOST} more: search, or fissure coverage --json`));
  }
}
search.oninput = show;
show();
