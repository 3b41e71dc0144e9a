// The server's description of itself as a page.
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? sessionStorage.getItem("token");

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

function parameterRows(operation) {
  const listed = (operation.parameters ?? []).map((p) => [p.name, p.schema.type, p.required, p.description]);
  const schema = operation.requestBody?.content["application/json"].schema;
  for (const [name, p] of Object.entries(schema?.properties ?? {}))
    listed.push([name, p.type, schema.required.includes(name), p.description]);
  return listed.map(([name, type, needed, description]) => {
    const row = element("tr");
    row.append(element("td", undefined, element("code", name)), element("td", [type].flat().join(" or ") + (needed ? ", needed" : "")),
               element("td", description));
    return row;
  });
}

function sectionOf(path, method, operation) {
  const section = element("section");
  section.append(element("h2", undefined, element("code", `${method.toUpperCase()} ${path}`)),
                 element("p", `${operation.summary[0].toUpperCase()}${operation.summary.slice(1)}.`));
  if (operation.description) section.append(element("p", operation.description));
  const rows = parameterRows(operation);
  if (rows.length) section.append(element("table", undefined, element("tbody", undefined, ...rows)));
  return section;
}

const wait = document.getElementById("wait");
try {
  const answer = await fetch("/openapi.json", { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  const all = await answer.json();
  if (!answer.ok) throw new Error(all.error);
  for (const [path, methods] of Object.entries(all.paths))
    for (const [method, operation] of Object.entries(methods))
      document.getElementById("routes").append(sectionOf(path, method, operation));
  wait.remove();
} catch (error) {
  wait.textContent = error.message;
  wait.className = "bad";
}
