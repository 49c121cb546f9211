// Asks the server; in an exported explorer the files beside the page, and in a notebook the notebook around it.

import { Messages } from "./messages.js";
import { Offline } from "./offline.js";

export class Refusal extends Error {}

const ENDED = "The explorer has ended: its server no longer answers. Start it again by gensim-hilbert explore, and open the address that it prints.";

class Server {
  async ask(name, query = {}) {
    const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
    // With this header a refusal is no failed request, which the browser would report on its console.
    const headers = { Prefer: "status=200" };
    const response = await fetch(`api/${name}?${new URLSearchParams(kept)}`, { headers }).catch(() => {
      throw new Refusal(ENDED);
    });
    if (response.status === 403) throw new Refusal(ENDED); // another explorer has the port now
    const answer = await response.json().catch(() => ({ error: `The server answered ${response.status}.` }));
    if (answer.error) throw new Refusal(answer.error);
    return answer;
  }
}

const sources = { server: Server, files: Offline, messages: Messages };
export const api = new sources[document.querySelector("meta[name=answers]").content](Refusal);
