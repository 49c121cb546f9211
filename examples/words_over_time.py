"""Which words have changed their meaning from one text to another? Vectors in one space can be compared directly.

A model of both texts gives the space: its covectors. The vectors of each text are then fitted with these covectors
fixed, so that nothing has to be aligned.

    python examples/words_over_time.py [EARLIER LATER]

EARLIER and LATER are files of text, one sentence per line. Without them, two texts are made up in which "cell" comes
to mean something else.
"""

import random
import sys

from gensim_hilbert import HilbertMLE

TOPICS = {
    "prison": "guard bars warden inmate jail sentence lock yard escape court judge visit wall gate night",
    "phone": "call text screen battery signal ring dial contact charge app number voice message plan ringtone",
    "garden": "rose soil seed water sun leaf root bee spade hedge lawn tree fruit grass rain",
    "kitchen": "pan oven salt knife bread soup boil plate cook stove spoon flour sugar taste recipe",
}


def made_up_text(seed, topic_of_cell, sentences=3000):
    """Return sentences about one topic each; "cell" is a word of one of them."""
    draw = random.Random(seed)
    text = []
    for _ in range(sentences):
        topic = draw.choice([*TOPICS])
        words = TOPICS[topic].split() + (["cell"] if topic == topic_of_cell else [])
        text.append(draw.choices(words, k=8) + draw.choices(["the", "of", "a"], k=2))
        draw.shuffle(text[-1])
    return text


if len(sys.argv) == 3:
    texts = [{"corpus_file": name} for name in sys.argv[1:]]
    both, options = {"corpus_file": sys.argv[1:]}, {"vector_size": 100, "min_count": 50}
elif len(sys.argv) == 1:
    drawn = [made_up_text(1, "prison"), made_up_text(2, "phone")]
    texts = [{"sentences": text} for text in drawn]
    both, options = {"sentences": drawn[0] + drawn[1]}, {"vector_size": 8, "sample": 0}
else:
    sys.exit(__doc__)

# A higher gauge than usual gives less weight to weak axes, along which vectors differ by chance from text to text.
space = HilbertMLE(**both, **options, gauge=0.7)
earlier, later = (HilbertMLE(**text, **options, covectors=space).wv for text in texts)

shared = [word for word in space.wv.index_to_key if word in earlier and word in later]
earlier.fill_norms()
later.fill_norms()
cosines = {word: earlier.get_vector(word, norm=True) @ later.get_vector(word, norm=True) for word in shared}
for word in sorted(cosines, key=cosines.get)[:5]:
    before, after = (", ".join(near for near, _ in vectors.most_similar(word, topn=4)) for vectors in (earlier, later))
    print(f"{word:12} {cosines[word]:5.2f}   {before}  ->  {after}")
