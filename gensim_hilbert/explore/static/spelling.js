// Words that are spelt much like a word, in an exported explorer.

const MOST_NEAR = 8;
const LONGEST_WORD = 40;

// Those that begin alike may differ by two letters, all others by one; nearer ones first, then more frequent ones.
export function nearSpellings(word, words) {
  const asked = [...word.toLowerCase()];
  if (asked.length < 2 || asked.length > LONGEST_WORD) return [];
  return words.map((text, rank) => {
    const letters = [...text.toLowerCase()];
    const most = Math.min(letters[0] === asked[0] ? 2 : 1, Math.max(1, asked.length - 2));
    const distance = Math.abs(letters.length - asked.length) > most ? Infinity : edits(asked, letters);
    return { text, rank, distance, near: distance <= most };
  }).filter((item) => item.near).sort((a, b) => a.distance - b.distance || a.rank - b.rank).slice(0, MOST_NEAR).map((item) => item.text);
}

// By how many letters two words differ: missing, added, another, or two that changed places.
function edits(one, other) {
  let before = [], last = [...Array(other.length + 1).keys()];
  one.forEach((letter, i) => {
    const row = [i + 1];
    other.forEach((found, j) => {
      let least = Math.min(last[j + 1] + 1, row[j] + 1, last[j] + Number(letter !== found));
      if (i && j && letter === other[j - 1] && one[i - 1] === found) least = Math.min(least, before[j - 1] + 1);
      row.push(least);
    });
    [before, last] = [last, row];
  });
  return last[other.length];
}
