// Asks the server, or in an exported explorer the files beside the page.

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

const offline = document.querySelector("meta[name=answers]").content === "files";
export const api = offline ? new Offline(Refusal) : new Server();
