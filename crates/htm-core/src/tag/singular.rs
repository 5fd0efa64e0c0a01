//! English plurals. Where a rule is not sure the word stays: two tags are mended by a merge, a wrong word by nobody.

/// Plurals that no rule makes.
const IRREGULAR: &[(&str, &str)] = &[
    ("alumni", "alumnus"),
    ("analyses", "analysis"),
    ("audios", "audio"),
    ("axes", "axis"),
    ("caches", "cache"),
    ("casinos", "casino"),
    ("children", "child"),
    ("cookies", "cookie"),
    ("crises", "crisis"),
    ("criteria", "criterion"),
    ("demos", "demo"),
    ("diagnoses", "diagnosis"),
    ("euros", "euro"),
    ("feet", "foot"),
    ("geese", "goose"),
    ("halves", "half"),
    ("headaches", "headache"),
    ("hypotheses", "hypothesis"),
    ("indices", "index"),
    ("intros", "intro"),
    ("kilos", "kilo"),
    ("knives", "knife"),
    ("leaves", "leaf"),
    ("lives", "life"),
    ("loaves", "loaf"),
    ("logos", "logo"),
    ("matrices", "matrix"),
    ("memos", "memo"),
    ("men", "man"),
    ("mice", "mouse"),
    ("movies", "movie"),
    ("niches", "niche"),
    ("parentheses", "parenthesis"),
    ("phenomena", "phenomenon"),
    ("photos", "photo"),
    ("pianos", "piano"),
    ("portfolios", "portfolio"),
    ("quizzes", "quiz"),
    ("radios", "radio"),
    ("ratios", "ratio"),
    ("repos", "repo"),
    ("scenarios", "scenario"),
    ("selfies", "selfie"),
    ("selves", "self"),
    ("shelves", "shelf"),
    ("shoes", "shoe"),
    ("studios", "studio"),
    ("syntheses", "synthesis"),
    ("teeth", "tooth"),
    ("theses", "thesis"),
    ("thieves", "thief"),
    ("toes", "toe"),
    ("vertices", "vertex"),
    ("videos", "video"),
    ("wives", "wife"),
    ("wolves", "wolf"),
    ("women", "woman"),
];

/// Words that end like a plural and are none, or that have no other form.
const UNCHANGED: &[&str] = &[
    "aas",
    "aiops",
    "alias",
    "always",
    "angeles",
    "athens",
    "atlas",
    "baas",
    "bias",
    "biceps",
    "brussels",
    "canvas",
    "caracas",
    "christmas",
    "chromeos",
    "clothes",
    "daas",
    "dallas",
    "dataops",
    "dbms",
    "devops",
    "devsecops",
    "diabetes",
    "earnings",
    "faas",
    "finops",
    "gitops",
    "goods",
    "gps",
    "gymnastics",
    "headquarters",
    "honduras",
    "https",
    "iaas",
    "jenkins",
    "judas",
    "kansas",
    "keras",
    "kubernetes",
    "lens",
    "les",
    "llmops",
    "logistics",
    "macos",
    "madras",
    "mars",
    "maths",
    "means",
    "mercedes",
    "midas",
    "mlops",
    "naples",
    "nas",
    "netherlands",
    "news",
    "nodejs",
    "overseas",
    "paas",
    "pancreas",
    "pandas",
    "perhaps",
    "postgres",
    "rails",
    "rdbms",
    "saas",
    "sales",
    "savings",
    "secops",
    "series",
    "sometimes",
    "species",
    "states",
    "sysops",
    "texas",
    "thanks",
    "times",
    "vegas",
    "vps",
    "wales",
    "whereas",
    "windows",
    "xaas",
    "xcodes",
    "yes",
];

/// Sciences end in -ics, and stay; these are things that are counted.
const COUNTED_ICS: &[&str] =
    &["clinics", "comics", "fabrics", "graphics", "lyrics", "mechanics", "metrics", "topics"];

/// Words in -s that take -es.
const TAKES_ES: &[&str] = &[
    "aliases", "atlases", "biases", "bonuses", "buses", "campuses", "canvases", "censuses", "corpuses",
    "gases", "statuses", "viruses",
];

/// The singular of a word in lower case, or the word itself.
pub(super) fn of(word: &str) -> String {
    if let Ok(at) = IRREGULAR.binary_search_by_key(&word, |(plural, _)| plural) {
        return IRREGULAR[at].1.to_owned();
    }
    let without = |count: usize| word[..word.len() - count].to_owned();
    let ends = |ending: &str| word.ends_with(ending) && word.len() > ending.len() + 1;
    let stays = word.len() <= 3
        || !word.ends_with('s')
        || ["ss", "us", "is", "os", "js"].iter().any(|ending| word.ends_with(ending))
        || (ends("ics") && !COUNTED_ICS.contains(&word))
        || word.bytes().any(|byte| byte.is_ascii_digit())
        || UNCHANGED.binary_search(&word).is_ok();
    if stays {
        word.to_owned()
    } else if ends("ies") {
        // `ties`, `lies`: a `-ie` that is short.
        if word.len() <= 4 { without(1) } else { without(3) + "y" }
    } else if TAKES_ES.contains(&word)
        || ["sses", "shes", "ches", "xes", "zzes", "oes"].iter().any(|ending| ends(ending))
    {
        without(2)
    } else {
        without(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(IRREGULAR.is_sorted_by_key(|(plural, _)| plural) && UNCHANGED.is_sorted());
    }

    #[test]
    fn plurals() {
        for (word, singular) in [
            ("databases", "database"),
            ("indexes", "index"),
            ("indices", "index"),
            ("queries", "query"),
            ("batches", "batch"),
            ("classes", "class"),
            ("caches", "cache"),
            ("tomatoes", "tomato"),
            ("photos", "photo"),
            ("houses", "house"),
            ("sizes", "size"),
            ("recipes", "recipe"),
            ("movies", "movie"),
            ("viruses", "virus"),
            ("ties", "tie"),
            ("keys", "key"),
            ("metrics", "metric"),
            ("schemas", "schema"),
            ("replicas", "replica"),
            ("ideas", "idea"),
        ] {
            assert_eq!(of(word), singular);
        }
    }

    #[test]
    fn what_is_no_plural_stays() {
        for word in [
            "kubernetes",
            "postgres",
            "redis",
            "aws",
            "css",
            "status",
            "business",
            "analysis",
            "physics",
            "news",
            "ios",
            "devops",
            "windows",
            "data",
            "media",
            "k8s",
            "nextjs",
            "dns",
            "series",
            "pandas",
            "s",
            "",
        ] {
            assert_eq!(of(word), word);
        }
    }

    #[test]
    fn a_singular_is_its_own() {
        for word in IRREGULAR.iter().map(|(_, one)| *one).chain(UNCHANGED.iter().copied()) {
            assert_eq!(of(word), word);
        }
    }
}
