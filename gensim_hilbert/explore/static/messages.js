// Asks the notebook around this page, which passes questions on to Python and answers back.

export class Messages {
  constructor(Refusal) {
    this.waiting = new Map();
    this.asked = 0;
    window.addEventListener("message", ({ source, data }) => {
      const question = source === parent ? this.waiting.get(data.number) : undefined;
      if (!question) return;
      this.waiting.delete(data.number);
      if (data.answer.error) question.reject(new Refusal(data.answer.error));
      else question.resolve(data.answer);
    });
  }

  ask(name, query = {}) {
    const number = ++this.asked;
    const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
    const texts = Object.fromEntries(kept.map(([key, value]) => [key, String(value)]));
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      // The state comes along so that the page can be shown again where it was.
      parent.postMessage({ number, name, query: texts, state: location.hash }, "*");
    });
  }
}
