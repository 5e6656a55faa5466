"""The texts of the golden files, and the one that the tiny vocabularies are made from."""

TRAINING_TEXT = """
The film is a quiet marvel: patient, funny and never cruel. I would gladly watch it again.
We left the cinema in silence, and that silence was the best review anyone could write.
A dull plot, wooden acting and a score that never stops shouting. Two hours of my life are gone.
The restaurant was lovely, the staff were kind, but the soup came cold and the bill came twice.
It's not bad, it isn't good, they're simply not trying; you'd expect more from such a team.
He reads the letter twice, folds it, and puts it back where nobody will ever look for it.
The weather turned at noon; by three o'clock the streets were empty and the lamps were lit.
My grandmother's garden has roses, lavender, mint, thyme and one very old apple tree.
Numbers such as 1, 2, 3, 10, 42, 100, 365, 1999 and 2024 appear in this sentence for a reason.
What a wonderful, terrible, unforgettable, boring, brilliant, awful, charming mess of a movie!
Un film magnifique, drôle et touchant; la fin est un peu longue, mais quelle émotion à l'écran.
Je n'ai pas aimé le début, ni le milieu, ni la fin, et pourtant j'y pense encore ce soir.
Der Film ist großartig gespielt, aber über weite Strecken zäh und ein wenig zu laut für mich.
La película es preciosa, aunque el final llega tarde y la música no ayuda en absoluto.
The service answers quickly, refuses what it cannot take, and says what it does in its logs.
Please don't call me again about the warranty; I've asked you three times already, thank you.
"""

# (kind, text); no text is empty or white space only: the service refuses those before the model.
TEXTS = [
    ("short", "Good."),
    ("short", "bad"),
    ("short", "x"),
    ("short", "7"),
    ("short", "?"),
    ("plain", "The film is a quiet marvel: patient, funny and never cruel."),
    ("plain", "A dull plot, wooden acting and a score that never stops shouting."),
    ("plain", "It's not bad, it isn't good, they're simply not trying; you'd expect more."),
    ("case", "WHAT A WONDERFUL MOVIE! What A Terrible Movie! what a boring movie!"),
    ("numbers", "In 2024 I paid $12.50 (about 11,30 €) for 3 tickets, i.e. 100% too much."),
    ("spaces", "  leading,  doubled   and trailing spaces  "),
    ("spaces", "tab\tnewline\nreturn\r\nvertical\vform\ffeed"),
    ("spaces", "no-break\u00a0space, em\u2003space, ideographic\u3000space, zero\u200bwidth"),
    ("accents", "Un film magnifique, drôle et touchant: quelle émotion à l'écran, ça alors!"),
    ("accents", "e\u0301te\u0301 cafe\u0301 nai\u0308ve A\u030angstro\u0308m \u0301alone"),
    ("accents", "İstanbul'da ışık, Straße, ﬁne ﬂour, ǅ, Å, ½ kg, x² ™"),
    ("german", "Der Film ist großartig gespielt, aber über weite Strecken zäh."),
    ("cyrillic", "Этот фильм просто прекрасен, но конец слишком длинный."),
    ("greek", "Η ταινία ήταν υπέροχη, όμως πολύ μεγάλη."),
    ("cjk", "这部电影非常好看，我很喜欢。"),
    ("cjk", "この映画は本当に退屈だった。二度と見ない!"),
    ("cjk", "이 영화는 정말 재미있어요. 강력 추천합니다."),
    ("cjk", "mixed 电影 and words電影mixed, \U00020000 too"),
    ("rtl", "هذا الفيلم رائع جدا"),
    ("rtl", "הסרט הזה היה ארוך מדי"),
    ("indic", "यह फिल्म बहुत अच्छी है"),
    ("thai", "หนังเรื่องนี้สนุกมาก"),
    ("emoji", "😀😡👍🏽 👨‍👩‍👧‍👦 🇩🇪 ❤️ film 😀"),
    ("emoji", "🎬"),
    ("unknown", "\u2603\u2604\u2605 \u16a0\u16a2 \u0f00"),
    ("unknown", "\U0001d54f\U0001d550 \ue000\uf8ff"),
    ("control", "nul\x00inside, bell\x07, escape\x1b[31m, delete\x7f"),
    ("control", "\x00"),
    ("control", "replacement \ufffd, noncharacter \uffff, byte order mark \ufeff, soft\u00adhyphen"),
    ("special", "[CLS] brackets [SEP] as words [PAD] [MASK] [UNK] [cls]"),
    ("special", "<s> angle </s> brackets <pad> and <mask> twice <mask>, <unk> <pad>"),
    ("special", "<pad><pad> film <pad> [PAD][PAD] film"),
    ("markup", "<p>A &amp; B</p> https://example.org/?q=1#top @user #film"),
    ("punctuation", "!!! ... --- ??? ;;; \"'`~^ {}[]() \\ / | «» “quoted” ‘single’ – — …"),
    ("long word", "a" * 120),
    ("long word", "unforgettable" * 12),
    ("long", "The restaurant was lovely, but the soup came cold. " * 6),
    ("long", "good " * 35 + "bad " * 60),
    ("long", "这部电影" * 40),
    ("long", "!" * 90),
    ("very long", "He reads the letter twice, folds it, and puts it back. " * 150),
]
