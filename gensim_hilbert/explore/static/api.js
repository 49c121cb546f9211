// Asks the server; in an exported explorer the files beside the page, and in a notebook the notebook around it.

import { Messages } from "./messages.js";
import { Offline } from "./offline.js";

export class Refusal extends Error {}

class Server {
  async ask(name, query = {}) {
    const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
    const response = await fetch(`api/${name}?${new URLSearchParams(kept)}`).catch(() => {
      throw new Refusal("The explorer has ended; start it again by gensim-hilbert explore.");
    });
    const answer = await response.json().catch(() => ({ error: `The server answered ${response.status}.` }));
    if (answer.error) throw new Refusal(answer.error);
    return answer;
  }
}

const sources = { server: Server, files: Offline, messages: Messages };
export const api = new sources[document.querySelector("meta[name=answers]").content](Refusal);
