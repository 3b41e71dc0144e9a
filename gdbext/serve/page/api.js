// Asking the server: requests, and the stream of events.
const kept = new URLSearchParams(location.hash.slice(1)).get("token");
if (kept) {
  sessionStorage.setItem("token", kept);
  history.replaceState(null, "", location.pathname); // not in a picture of the screen, nor in a link that is copied
}

function headers() {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

export function useToken(token) {
  sessionStorage.setItem("token", token.trim());
}

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function answerOf(response) {
  const told = await response.json();
  if (!told.success) throw new Refused(response.status, told.error);
  return told.data;
}

export async function get(path, query = {}, signal = undefined) {
  const params = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== ""));
  return answerOf(await fetch(`${path}?${params}`, { headers: headers(), signal }));
}

export async function post(path, body = {}) {
  return answerOf(await fetch(path, { method: "POST", body: JSON.stringify(body),
                                      headers: { "Content-Type": "application/json", ...headers() } }));
}

// Calls told(type, data) for each event of these types, until the session ends or the signal comes; goes on where it was after a
// break.
export async function listen(session, types, told, signal) {
  for (let last = "0", breaks = 0; breaks < 20; breaks++) {
    try {
      const response = await fetch(`/events?session=${session}&types=${types}`, { signal, headers: { "Last-Event-ID": last, ...headers() } });
      if (!response.ok) return;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ""; ;) {
        const { value, done } = await reader.read();
        if (done) return;
        text += value;
        const blocks = text.split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
          if (!fields.event) continue;
          last = fields.id ?? last;
          breaks = 0;
          told(fields.event, JSON.parse(fields.data));
        }
      }
    } catch {
      if (signal.aborted) return;
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}
