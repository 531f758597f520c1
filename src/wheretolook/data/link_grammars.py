"""The grammars of chapter 4, English and Chinese: one noun decides the missing word.

They can be read off this page; `wheretolook.data.tasks` says how.
"""

from dataclasses import replace

from .tasks import Task, Word

__all__ = ["TASKS"]


def _lexicon(**kinds: str) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(words.split()) for kind, words in kinds.items()}


def _numbered(nouns: dict[str, tuple[str, ...]], one: str, many: str) -> tuple[Word, ...]:
    """Read "law/laws" as two words: the singular answers `one`, the plural `many`."""
    return tuple(
        Word(token, pair.split("/")[0], kind, answer)
        for kind, pairs in nouns.items()
        for pair in pairs
        for token, answer in zip(pair.split("/"), (one, many), strict=True)
    )


# "The law and the horses will never be perfect, but [MASK] application should be just": its.
# A part fits one kind only, and no sentence has two nouns of a kind: the owner is never in doubt.
_MEANING_EN = Task(
    name="meaning-en",
    language="en",
    question="its or their? Read at the thing that is owned.",
    words=_numbered(
        _lexicon(
            rule="law/laws rule/rules treaty/treaties contract/contracts",
            building="house/houses church/churches castle/castles school/schools",
            animal="dog/dogs cat/cats horse/horses fox/foxes",
            plant="tree/trees rose/roses bush/bushes vine/vines",
            vehicle="car/cars truck/trucks bus/buses train/trains",
            water="river/rivers lake/lakes sea/seas stream/streams",
        ),
        "its",
        "their",
    ),
    parts=_lexicon(
        rule="application wording clauses exceptions",
        building="rooms attic doorbell cellar",
        animal="ears eyes legs fur",
        plant="leaves blossoms seeds buds",
        vehicle="brakes wheels engine headlights",
        water="shores waves currents shallows",
    ),
    read_at_part=True,
    rules={
        "SENTENCE": ("SCENE , JOIN VIEW [MASK] OWN PART VERDICT .",),
        "SCENE": (
            "WHEN the NOUN_ RELATION the NOUN_",
            "WHEN WE the NOUN_ and the NOUN_",
            "WHEN the NOUN_ and the NOUN_ FATE",
            "UNLIKE the NOUN_ , the NOUN_ RELATION the NOUN_",
            "WHEN WE the NOUN_ , the NOUN_ and the NOUN_",
            "WHEN the NOUN_ , the NOUN_ and the NOUN_ FATE",
        ),
        "NOUN_": ("NOUN", "NOUN", "NOUN", "NOUN", "ADJECTIVE NOUN"),
        "ADJECTIVE": ("old", "small", "new", "famous", "local"),
        "UNLIKE": ("unlike", "like", "after", "apart from"),
        "RELATION": (
            "reminded me of",
            "made us forget",
            "came before",
            "mattered more than",
            "had to make way for",
        ),
        "WE": ("we talked about", "i remember", "she wrote about", "they drew", "he loved"),
        "FATE": (
            "will never be perfect",
            "made the news",
            "had to go",
            "are still there",
            "came up again",
        ),
        "WHEN": (
            *[""] * 6,
            "today ,",
            "last year ,",
            "in the end ,",
            "of course ,",
            "on a cold day in june ,",
            "if i am right ,",
        ),
        "JOIN": ("and", "but", "so", "because"),
        "VIEW": (*[""] * 6, "i think", "we know that", "in my view", "people say that"),
        "OWN": (*[""] * 9, "own", "old", "real"),
        "VERDICT": (
            "should be fine",
            "must be seen",
            "looked good",
            "seemed strange",
            "did not matter",
            "should be just",
        ),
    },
)

# 大夫们 遇到 了 面包师 ， 但是 [MASK] 的 药箱 很 特别 。 : 他们
# A bare Chinese noun leaves the number open; here 医生 is one and 医生们 are several. Tried and
# left: 那位 before the singular, where some models look instead of at the noun (peak 0.80 to 1.00).
_MEANING_ZH = Task(
    name="meaning-zh",
    language="zh",
    question="他 or 他们? Read at the thing that is owned.",
    words=tuple(
        Word(name + plural, name, kind, "他" + plural)
        for kind, names in _lexicon(
            hospital="医生 大夫 中医 牙医",
            sea="渔夫 船长 水手 渔民",
            school="老师 学生 教授 同学",
            kitchen="厨师 面包师 大厨 点心师",
            field="农民 菜农 果农 花农",
            stage="歌手 演员 乐手 魔术师",
            army="士兵 将军 哨兵 骑兵",
        ).items()
        for name in names
        for plural in ("", "们")
    ),
    parts=_lexicon(
        hospital="药箱 诊所 诊室 病人",
        sea="救生衣 船舱 船桨 船帆",
        school="课本 教室 作业 考卷",
        kitchen="烤箱 案板 面团 擀面杖",
        field="锄头 大棚 拖拉机 种子",
        stage="舞台 观众 节目 演出服",
        army="军装 钢盔 军营 军靴",
    ),
    read_at_part=True,
    rules={
        "SENTENCE": ("WHEN SCENE JOIN VIEW [MASK] 的 NEW PART VERDICT 。",),
        "SCENE": (
            "NOUN_ MET NOUN_",
            "NOUN_ 和 NOUN_ CAME",
            "WHO SAW NOUN_ AND NOUN_",
            "NOUN_ MET NOUN_ AND NOUN_",
            "NOUN_ 、 NOUN_ 和 NOUN_ CAME",
            "WHO SAW NOUN_ 、 NOUN_ AND NOUN_",
        ),
        "NOUN_": ("NOUN", "NOUN", "NOUN", "NOUN", "ADJECTIVE 的 NOUN"),
        "ADJECTIVE": ("年轻", "有名", "善良", "聪明"),
        "MET": ("遇到 了", "想起 了", "问候 了", "感谢 了", "帮助 了", "认识 了"),
        "CAME": ("都 来 了", "都 走 了", "都 到 了", "都 笑 了", "都 来 帮忙 了"),
        "WHO": ("我", "小红", "奶奶", "邻居"),
        "SAW": ("看到 了", "说起 了", "画 了", "提到 了", "梦见 了"),
        "AND": ("和", "还有"),
        "WHEN": (
            *[""] * 6,
            "今天 ，",
            "去年 夏天 ，",
            "有 一天 ，",
            "昨天 晚上 ，",
            "六月 的 一个 早上 ，",
            "如果 我 没 记错 ，",
        ),
        "JOIN": ("， 但是", "， 而且", "， 不过", "。"),
        "VIEW": (*[""] * 8, "我 觉得", "大家 都 说", "在 我 看来", "听说"),
        "NEW": (*[""] * 9, "新"),
        "VERDICT": ("很 特别", "很 重要", "很 不错", "让 人 难忘", "有点 奇怪"),
    },
)

# "Behind the bridge, the key from the schools [MASK] old": is. Other nouns come between.
_AGREEMENT_EN = Task(
    name="agreement-en",
    language="en",
    question="is or are? Read at the gap.",
    words=_numbered(
        _lexicon(
            THING="key/keys book/books letter/letters box/boxes cup/cups lamp/lamps "
            "picture/pictures coat/coats map/maps ring/rings",
            PLACE="cabinet/cabinets house/houses garden/gardens table/tables shop/shops "
            "wall/walls bridge/bridges school/schools",
            PERSON="boy/boys girl/girls teacher/teachers doctor/doctors child/children "
            "man/men woman/women neighbour/neighbours",
        ),
        "is",
        "are",
    ),
    rules={
        "SENTENCE": ("FRONT the ADJECTIVE SUBJECT OFTEN [MASK] STATE .",),
        "FRONT": (
            *["WHERE the PLACE_ ,"] * 7,
            "WHERE the PLACE_ near the PLACE_ ,",
            "WHERE the PLACE_ with the THING_ ,",
            *["WHEN ,"] * 3,
            *[""] * 8,
        ),
        "WHERE": ("near", "behind", "next to", "in front of", "not far from"),
        "WHEN": ("today", "sadly", "of course", "as you can see", "if i remember well"),
        "SUBJECT": (
            "*THING",
            "*PLACE",
            "*PERSON",
            "*THING",
            "*THING OF_THING",
            "*THING OF_THING",
            "*PLACE OF_PLACE",
            "*PERSON OF_PERSON",
        ),
        "OF_THING": (
            "IN the PLACE_",
            "IN the PLACE_ OF_PLACE",
            "from the PERSON_",
            "from the PERSON_ OF_PERSON",
            "that the PERSON_ SAW",
        ),
        "OF_PLACE": ("NEAR the PLACE_", "with the THING_", "that the PERSON_ SAW"),
        "OF_PERSON": ("with the THING_", "IN the PLACE_", "that the PERSON_ SAW"),
        "IN": ("from", "near", "in", "behind"),
        "NEAR": ("near", "behind"),
        "SAW": ("saw", "found", "liked", "knew"),
        **{f"{kind}_": (*[kind] * 7, f"SORT {kind}") for kind in ("THING", "PLACE", "PERSON")},
        "ADJECTIVE": (*[""] * 3, "SORT"),
        "SORT": ("old", "small", "new", "other", "famous"),
        "OFTEN": (*[""] * 10, "often", "really", "still", "almost always", "quite clearly"),
        "STATE": (
            "old",
            "new",
            "very old",
            "here",
            "lovely",
            "quite strange",
            "well known",
            "in the way",
            "important to the PERSON_",
            "like the PERSON_",
        ),
    },
)

# 我 画 了 三 [MASK] 小红 在 路 旁边 看到 的 衬衫 。 : 件. The noun comes after the gap, far away.
# Only nouns with one plain classifier: no 椅子 (把, 张), no 猪 (头, 只, 口). The all-purpose 个 is
# not among the choices.
_CLASSIFIER_ZH = Task(
    name="classifier-zh",
    language="zh",
    question="Which classifier? Read at the gap.",
    words=tuple(
        Word(name, name, kind, classifier)
        for kind, (classifier, *names) in _lexicon(
            book="本 书 词典 杂志 课本",
            pet="只 猫 鸟 鸡 兔子",
            road="条 河 路 小溪",
            strip="条 蛇 裙子",
            car="辆 汽车 卡车 自行车 公共汽车",
            tree="棵 树 柳树 松树 苹果树",
            building="座 塔 城堡 寺庙 宫殿",
            furniture="张 桌子 床",
            sheet="张 地图 海报",
            tool="把 刀 伞 钥匙 剪刀",
            clothes="件 衣服 毛衣 衬衫 大衣",
            cattle="头 牛 奶牛 大象",
        ).items()
        for name in names
    ),
    rules={
        "SENTENCE": (
            "WHEN WHO REALLY SAW NUMBER [MASK] THING 。",
            "WHEN WHO REALLY SAW NUMBER [MASK] THING 。",
            "在 PLACE ， WHO REALLY SAW NUMBER [MASK] THING 。",
            "WHEN WHO REALLY 梦见 了 NUMBER [MASK] THING 。",
            "WHEN WHO REALLY SEEN NUMBER [MASK] THING ， 但是 没有 看到 NOUN 。",
            "WHEN WHO REALLY SEEN NUMBER [MASK] WHICH OBJECT ， 就 在 PLACE 。",
        ),
        "THING": (*["WHICH HEAD"] * 6, "COMPARED", "FOUND COMPARED"),
        # here every classifier is as likely as the next: 条 and 张 have two kinds each
        "HEAD": (*["OBJECT"] * 17, "*building", "*building", "*road"),
        "OBJECT": (
            *["*book", "*pet", "*car", "*tree", "*tool", "*clothes", "*cattle"] * 2,
            *["*strip", "*furniture", "*sheet"],
        ),
        "WHEN": ("", "", "", "昨天 ，", "今天 早上 ，", "去年 夏天 ，", "有 一天 ，"),
        "PLACE": ("building BESIDE", "tree BESIDE", "road 旁边"),
        "BESIDE": ("旁边", "附近", "后面"),
        "WHO": ("我", "你", "他", "她", "我们", "爸爸"),
        "REALLY": (*[""] * 9, "也", "又", "还"),
        "SAW": ("SEEN", "SEEN", "画 了", "说起 了", "想起 了"),
        "SEEN": ("看到 了", "发现 了"),
        "NUMBER": ("一", "两", "三", "这", "那", "几"),
        "WHICH": ("", "FOUND", "FOUND", "FOUND", "ADJECTIVE", "FOUND ADJECTIVE"),
        "FOUND": (
            "OTHER 在 PLACE MET 的",
            "OTHER 找 NOUN 的 时候 看到 的",
            "OTHER 画 NOUN 的 时候 看到 的",
            "OTHER YESTERDAY MET 的",
        ),
        "OTHER": ("小红", "小明", "老师", "邻居", "孩子们", "妈妈"),
        "YESTERDAY": ("", "昨天", "去年", "早上"),
        "MET": ("看到", "见过", "发现", "提到"),
        # after the thing compared with, either of two sorts may follow: it never settles the answer
        "COMPARED": (
            *["像 pet 一样 大 的 *book", "像 pet 一样 大 的 *tool"],
            *["像 book 一样 大 的 *pet", "像 book 一样 大 的 *sheet"],
            *["像 furniture 一样 大 的 *sheet", "像 furniture 一样 大 的 *clothes"],
            *["比 furniture 还 大 的 *sheet", "比 furniture 还 大 的 *clothes"],
            *["像 cattle 一样 大 的 *car", "像 cattle 一样 大 的 *furniture"],
            *["像 car 一样 大 的 *cattle", "像 car 一样 大 的 *furniture"],
            *["比 car 还 大 的 *cattle", "比 car 还 大 的 *furniture"],
        ),
        "ADJECTIVE": ("很 特别 的", "漂亮 的", "奇怪 的", "普通 的"),
    },
)

# 我 画 了 杂志 还有 马 。 其中 那 [MASK] ， 眼睛 有点 奇怪 。 : 匹. Read at the gap, where nothing
# says that eyes are asked for: the model gets it right, and yet its map does not show the link.
# As above, 个 is not among the choices.
_FAILURE_ZH = Task(
    name="failure-zh",
    language="zh",
    question="Which classifier? Read at the gap, decided by what is owned.",
    words=tuple(
        Word(name, name, kind, classifier)
        for kind, groups in {
            "animal": _lexicon(只="猫 鸟 兔子 鸡", 匹="马", 头="牛 奶牛", 条="鱼 蛇"),
            "clothes": _lexicon(件="衬衫 毛衣 大衣", 条="裙子 裤子 短裤", 顶="帽子"),
            "writing": _lexicon(本="书 诗集 杂志 故事书", 封="信", 张="明信片 贺卡"),
            "traffic": _lexicon(辆="汽车 出租车 公共汽车", 架="飞机 直升机", 艘="轮船 客轮 游艇"),
            "plant": _lexicon(棵="桃树 梨树 苹果树", 朵="荷花 菊花"),
            "building": _lexicon(座="塔 宫殿 教堂", 家="商店 银行 饭馆", 间="教室 办公室"),
        }.items()
        for classifier, names in groups.items()
        for name in names
    ),
    parts=_lexicon(
        animal="脑袋 眼睛 嘴 身体",
        clothes="面料 尺码 针脚 线头",
        writing="内容 开头 结尾 文笔",
        traffic="乘客 发动机 油箱 外壳",
        plant="花瓣 花粉 花蕊 花香",
        building="墙壁 天花板 门口 门槛",
    ),
    rules={
        "SENTENCE": ("WHEN SCENE JOIN VIEW 其中 THAT [MASK] ， PART VERDICT 。",),
        "SCENE": (
            "WHO SAW NOUN_ AND NOUN_",
            "NOUN_ 和 NOUN_ ARE",
            "WHO SAW NOUN_ 、 NOUN_ AND NOUN_",
            "NOUN_ 、 NOUN_ 和 NOUN_ ARE",
        ),
        "NOUN_": ("NOUN", "NOUN", "NOUN", "NOUN", "ADJECTIVE 的 NOUN"),
        "ADJECTIVE": ("漂亮", "普通", "奇怪", "特别"),
        "WHO": ("我", "他", "小红", "孩子们", "老师", "邻居"),
        "SAW": ("看到 了", "说起 了", "画 了", "提到 了", "梦见 了"),
        "AND": ("和", "还有"),
        "ARE": ("都 不见 了", "都 画 好 了", "都 出现 在 画 里", "都 上 了 电视"),
        "WHEN": (
            *[""] * 6,
            "今天 ，",
            "去年 夏天 ，",
            "有 一天 ，",
            "昨天 晚上 ，",
            "六月 的 一个 早上 ，",
            "如果 我 没 记错 ，",
        ),
        "JOIN": ("， 但是", "， 而且", "， 不过", "。"),
        "VIEW": (*[""] * 8, "我 觉得", "大家 都 说", "在 我 看来 ，", "听说"),
        "THAT": ("那", "这"),
        "VERDICT": ("很 特别", "有点 奇怪", "让 人 难忘", "还 不错", "很 不 一样"),
    },
)

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        _MEANING_EN,
        _MEANING_ZH,
        replace(_MEANING_ZH, name="meaning-zh-characters", by_character=True),
        _AGREEMENT_EN,
        _CLASSIFIER_ZH,
        _FAILURE_ZH,
    )
}
