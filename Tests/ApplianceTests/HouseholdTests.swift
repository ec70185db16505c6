import Foundation
import GRDB
import LiveTesting
import Nostr
import Testing

@testable import Appliance

@Suite struct PreferenceSyncTests {
    private static let cloud = Preferences(
        version: 3, values: ["spice": PreferenceValue(text: "mild", updatedAt: 100)],
        people: [PersonAllergens(person: "Asha", allergens: [.milk, .peanut], updatedAt: 100)])

    private func allergens(_ preferences: Preferences, _ person: String = "Asha") -> [Allergen] {
        preferences.people.first { $0.person == person }?.allergens ?? []
    }

    @Test func queuesWhileOffline() throws {
        var sync = PreferenceSync(base: Self.cloud)
        try sync.set("spice", to: "hot", now: 200)
        try sync.set("spice", to: "medium", now: 201)
        try sync.setAllergens([.milk, .egg], of: "Asha", now: 202)
        #expect(sync.pendingCount == 2 && sync.current.values["spice"]?.text == "medium")
        var restored = try JSONCoding.roundTrip(sync)
        #expect(restored == sync)
        let upload = restored.beginUpload()
        let second = restored.beginUpload()
        #expect(upload?.version == 3 && upload.map { self.allergens($0) } == [.egg, .milk] && second == nil)
        var stored = try #require(upload)
        stored.version = 4
        // A change during the upload still waits.
        try restored.set("spice", to: "hot", now: 203)
        restored.uploaded(stored)
        #expect(restored.pendingCount == 1 && restored.version == 4 && restored.current.values["spice"]?.text == "hot")
    }

    @Test func laterPreferenceCounts() throws {
        var cloud = Self.cloud
        cloud.version = 4
        cloud.values["spice"] = PreferenceValue(text: "hot", updatedAt: 150)
        for (time, expected) in [(140, "hot"), (150, "hot"), (160, "medium")] {
            var sync = PreferenceSync(base: Self.cloud)
            try sync.set("spice", to: "medium", now: UnixTime(Int64(time)))
            sync.merge(cloud)
            #expect(sync.current.values["spice"]?.text == expected)
            #expect(sync.pendingCount == (expected == "medium" ? 1 : 0))
        }
    }

    @Test func addedAllergensOfBothSidesCount() throws {
        var sync = PreferenceSync(base: Self.cloud)
        try sync.setAllergens([.milk, .egg], of: "Asha", now: 200)
        var cloud = Self.cloud
        cloud.version = 4
        cloud.people = [PersonAllergens(person: "Asha", allergens: [.milk, .peanut, .soy], updatedAt: 150)]
        sync.merge(cloud)
        // The removal of peanut does not count, because the cloud's list changed.
        #expect(self.allergens(sync.current) == [.egg, .milk, .peanut, .soy])
        var alone = PreferenceSync(base: Self.cloud)
        try alone.setAllergens([.milk], of: "Asha", now: 200)
        var unchanged = Self.cloud
        unchanged.version = 4
        alone.merge(unchanged)
        #expect(self.allergens(alone.current) == [.milk])
    }

    @Test func boundsWaitingChanges() throws {
        var sync = PreferenceSync()
        for number in 0..<64 { try sync.set("p\(number)", to: "x", now: 1) }
        let before = sync
        let refusal = code { try sync.set("p64", to: "x", now: 1) }
        #expect(refusal == .malformed && sync == before)
    }

    /// Two devices and a cloud agree in the end, and no allergen that one of them added is missing without a removal.
    @Test func randomDevicesConverge() throws {
        var random = SplitMix64(seed: 21)
        for _ in 0..<200 {
            var cloud = Preferences(version: 0)
            var devices = [PreferenceSync(), PreferenceSync()]
            var added: Set<Allergen> = []
            for time in 0..<30 {
                let index = Int.random(in: 0..<2, using: &random)
                let allergen = Allergen.known[Int.random(in: 0..<4, using: &random)]
                let now = UnixTime(Int64(time))
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    // Only additions.
                    let known = Set(self.allergens(devices[index].current))
                    try devices[index].setAllergens(known.union([allergen]), of: "Asha", now: now)
                    added.insert(allergen)
                case 1: try devices[index].set("spice", to: "\(time)", now: now)
                default: self.synchronize(&devices[index], &cloud)
                }
            }
            for _ in 0..<4 { for index in devices.indices { self.synchronize(&devices[index], &cloud) } }
            #expect(devices.allSatisfy { $0.current == cloud && $0.pendingCount == 0 })
            #expect(Set(self.allergens(cloud)) == added)
        }
    }

    private func synchronize(_ device: inout PreferenceSync, _ cloud: inout Preferences) {
        guard var upload = device.beginUpload(), upload.version == cloud.version else { return device.merge(cloud) }
        upload.version += 1
        cloud = upload
        device.uploaded(upload)
    }
}

@Suite struct HistoryJournalTests {
    @Test func uploadsEachRecordOnce() throws {
        var journal = HistoryJournal()
        let first = try journal.append(Samples.record("s1"))
        let again = try journal.append(Samples.record("s1"))
        try journal.append(Samples.record("s2"))
        #expect(first && !again)
        var uploads: [String] = []
        while let upload = journal.nextUpload {
            if case .record(let record) = upload { uploads.append(record.id) }
            journal.uploaded(upload)
        }
        #expect(uploads == ["s1", "s2"] && journal.waitingCount == 0)
    }

    @Test func uploadsLatestRating() throws {
        var journal = HistoryJournal()
        try journal.append(Samples.record("s1"))
        let record = try #require(journal.nextUpload)
        try journal.rate("s1", Rating(stars: 4, ratedAt: 10))
        journal.uploaded(record)
        let rating = Rating(stars: 4, ratedAt: 10)
        #expect(journal.nextUpload == .rating(sessionID: "s1", rating))
        try journal.rate("s1", Rating(stars: 5, ratedAt: 11))
        journal.uploaded(.rating(sessionID: "s1", rating))
        let later = Rating(stars: 5, ratedAt: 11)
        #expect(journal.nextUpload == .rating(sessionID: "s1", later))
        journal.uploaded(.rating(sessionID: "s1", later))
        let older = try journal.rate("s1", Rating(stars: 1, ratedAt: 5))
        let restored = try JSONCoding.roundTrip(journal)
        #expect(!older && journal.nextUpload == nil && restored == journal)
    }

    @Test func keepsRecordsThatWait() throws {
        var journal = HistoryJournal(maximumRecords: 2)
        try journal.append(Samples.record("s1"))
        try journal.append(Samples.record("s2"))
        let refusal = code { try journal.append(Samples.record("s3")) }
        #expect(refusal == .full)
        if let upload = journal.nextUpload { journal.uploaded(upload) }
        try journal.append(Samples.record("s3"))
        #expect(journal.records.map { $0.id } == ["s2", "s3"])
    }

    @Test func mergesTheCloudsRecords() throws {
        var journal = HistoryJournal()
        try journal.append(Samples.record("s1", rating: Rating(stars: 2, ratedAt: 5)))
        let page = HistoryPage(items: [
            Samples.record("s2"), Samples.record("s1", rating: Rating(stars: 3, ratedAt: 9)),
        ])
        journal.merge(page)
        #expect(journal.records.map { $0.id } == ["s1", "s2"] && journal.waitingCount == 0)
        #expect(journal.records.first?.rating?.stars == 3)
    }

    @Test(arguments: [("👎", 1), ("👍", 4), ("❤️", 5), ("3️⃣", 3), ("⭐⭐", 2), ("🎉", nil), ("", nil)] as [(String, Int?)])
    func readsRatingsOfReactions(reaction: String, stars: Int?) {
        #expect(Rating(reaction: reaction, at: 0)?.stars == stars)
    }
}

@Suite struct GroceryListTests {
    @Test func sumsEqualIngredients() throws {
        var list = GroceryList()
        try list.add(Samples.recipe, servings: 8)
        var other = Samples.recipe
        other.ingredients = [Ingredient(name: "lentils", quantity: 1.5, unit: "kg")]
        try list.add(other, servings: 2)
        try list.add("Soap")
        #expect(list.checklist == ["☐ 1. 120 g Ghee", "☐ 2. 2.5 kg Lentils", "☐ 3. 20 g Mustard seeds", "☐ 4. Soap"])
        try list.setChecked(true, number: 2)
        let missing = code { try list.setChecked(true, number: 9) }
        #expect(missing == .notFound && list.checklist[1].hasPrefix("☑"))
        list.removeChecked()
        #expect(list.items.count == 3)
    }

    @Test func boundsItems() throws {
        var list = GroceryList()
        for number in 0..<GroceryList.maximumItems { try list.add("item \(number)") }
        let refusal = code { try list.add("another") }
        let recipe = code { try list.add(Samples.recipe, servings: 1) }
        #expect(refusal == .full && recipe == .full && list.items.count == GroceryList.maximumItems)
    }
}

@Suite struct MealPlanTests {
    @Test func remindsOnceInTheHouseholdsZone() throws {
        var plan = try MealPlan(zone: "Asia/Kolkata", minutesBefore: 30)
        // 19:30 in India is 14:00 UTC.
        let time = try LocalTime(parsing: "2026-11-23 19:30")
        let instant = try time.instant(in: "Asia/Kolkata")
        #expect(instant == 1_795_442_400)
        try plan.schedule(id: "m1", Samples.recipe, servings: 2, at: time, now: 1_795_000_000)
        #expect(plan.nextReminder == instant - 1_800)
        let early = plan.dueReminders(now: instant - 1_801)
        let due = plan.dueReminders(now: instant - 1_800)
        let again = plan.dueReminders(now: instant - 1_700)
        #expect(early.isEmpty && due.map { $0.id } == ["m1"] && again.isEmpty)
        _ = plan.dueReminders(now: instant + 3_601)
        #expect(plan.meals.isEmpty && plan.nextReminder == nil)
    }

    @Test func leavesOutLateReminders() throws {
        var plan = try MealPlan(zone: "UTC", minutesBefore: 0)
        try plan.schedule(
            id: "m1", Samples.recipe, servings: 2, at: try LocalTime(parsing: "2026-11-23 10:00"), now: 0)
        let due = plan.dueReminders(now: 1_800_000_000)
        #expect(due.isEmpty && plan.meals.isEmpty)
    }

    @Test func handlesClockChanges() throws {
        // Berlin skips 02:00 to 03:00 on 2026-03-29, and repeats it on 2026-10-25.
        let skipped = try LocalTime(parsing: "2026-03-29 02:30").instant(in: "Europe/Berlin")
        let repeated = try LocalTime(parsing: "2026-10-25 02:30").instant(in: "Europe/Berlin")
        #expect(skipped == 1_774_746_000)
        #expect(repeated == 1_792_888_200)
    }

    @Test func refusesWrongTimesAndZones() throws {
        for text in [
            "2026-02-29 10:00", "2026-13-01 10:00", "2026-01-01 24:00", "1999-01-01 10:00", "tomorrow", "",
            "2026-01-01",
            "2026-01-01 10:00:00 and more", "+026-01-01 10:00",
        ] {
            #expect(code { _ = try LocalTime(parsing: text) } == .malformed)
        }
        #expect(code { _ = try MealPlan(zone: "Nowhere/City") } == .malformed)
        var plan = try MealPlan(zone: "UTC")
        let past = code {
            try plan.schedule(
                id: "m", Samples.recipe, servings: 1, at: try LocalTime(parsing: "2026-01-01 10:00"), now: 1_800_000_000
            )
        }
        #expect(past == .malformed)
    }
}

@Suite struct RecipeSearchTests {
    @Test func findsWordsOfEveryScript() throws {
        let database = try DatabaseQueue()
        let titles = ["Dal tadka", "दाल तड़का", "பருப்பு தாளிப்பு", "मूंगफली पोहा", "வேர்க்கடலை அவல்"]
        try database.write { database in
            try database.execute(
                sql: "CREATE VIRTUAL TABLE recipe USING fts5(title, tokenize = \"\(RecipeSearch.tokenizer)\")")
            for title in titles {
                try database.execute(
                    sql: "INSERT INTO recipe VALUES (?)", arguments: [RecipeSearch.normalized(title)])
            }
        }
        let expected: [(String, [Int])] = [
            ("dal", [1]), ("TAD", [1]), ("दाल", [2]), ("तड़का", [2]), ("पोह", [4]), ("பருப்பு", [3]), ("வேர்க்", [5]),
            // A part of a word is found at its beginning only: vowel signs do not end words.
            ("ल", []), ("பு", []), ("दाल पोहा", []), ("\"; DROP TABLE", []), ("title:dal", []),
        ]
        for (text, rows) in expected {
            let query = try #require(RecipeSearch.query(text))
            let found = try database.read { database in
                try Int.fetchAll(database, sql: "SELECT rowid FROM recipe WHERE recipe MATCH ?", arguments: [query])
            }
            #expect(found == rows, "\(text)")
        }
    }

    @Test func buildsBoundedQueries() {
        #expect(RecipeSearch.query("dal AND \"x* -y") == "\"dal\" \"AND\" \"x\" \"y\"*")
        #expect(RecipeSearch.query("  ***  ") == nil)
        let long = String(repeating: "word ", count: 50)
        #expect(RecipeSearch.query(long)?.split(separator: " ").count == RecipeSearch.maximumTerms)
    }

    @Test func normalizesNuktaAndJoiners() {
        // QA as one letter, and as KA with a nukta.
        #expect(RecipeSearch.normalized("\u{0958}") == RecipeSearch.normalized("\u{0915}\u{093C}"))
        #expect(Array(RecipeSearch.normalized("क\u{200D}ष").unicodeScalars).count == 2)
    }
}

@Suite struct ImageCacheIndexTests {
    @Test func evictsLeastRecentlyUsed() {
        var cache = ImageCacheIndex(maximumBytes: 100, maximumFiles: 3)
        let evictions = [cache.insert("a", bytes: 40), cache.insert("b", bytes: 40)]
        let isUsed = cache.use("a")
        let evicted = cache.insert("c", bytes: 40)
        let refused = cache.insert("d", bytes: 101)
        #expect(evictions == [[], []] && isUsed && evicted == ["b"] && refused == ["d"])
        #expect(cache.totalBytes == 80 && cache.contains("a") && !cache.contains("b"))
        let unknown = cache.reconcile(with: ["a", "z"])
        #expect(unknown == ["z"] && cache.count == 1 && cache.totalBytes == 40)
    }

    @Test func randomUseStaysWithinLimits() {
        var random = SplitMix64(seed: 4)
        var cache = ImageCacheIndex(maximumBytes: 1_000, maximumFiles: 10)
        var files: [String: Int] = [:]
        for _ in 0..<2_000 {
            let key = "\(Int.random(in: 0..<30, using: &random))"
            let bytes = Int.random(in: 0...400, using: &random)
            files[key] = bytes
            for removed in cache.insert(key, bytes: bytes) { files[removed] = nil }
            #expect(cache.totalBytes <= 1_000 && cache.count <= 10)
            #expect(cache.totalBytes == files.values.reduce(0, +) && cache.count == files.count)
        }
    }
}

@Suite struct TextsTests {
    @Test(arguments: Language.allCases)
    func everyLanguageHasEveryKey(language: Language) {
        let table = Texts.table(language)
        for key in TextKey.allCases {
            let text = table[key]
            #expect(text?.isEmpty == false, "\(language.rawValue) lacks \(key.rawValue)")
            #expect(Texts.placeholders(key, in: language) == Texts.placeholders(key, in: .english), "\(key.rawValue)")
        }
    }

    @Test func translationsUseTheirScript() {
        let ranges: [Language: ClosedRange<UInt32>] = [.hindi: 0x0900...0x097F, .tamil: 0x0B80...0x0BFF]
        for (language, range) in ranges {
            for key in TextKey.allCases
            where !["{name}: {state}", "{name}: {value}"].contains(
                Texts.template(key, in: language))
            {
                let text = Texts.template(key, in: language)
                #expect(text.unicodeScalars.contains { range.contains($0.value) }, "\(key.rawValue)")
            }
        }
    }

    @Test func argumentsAreNotSearchedForNames() {
        let text = Texts.text(.cookStep, ["step": "{text}", "text": "{step}"], in: .english)
        #expect(text == "Step {text}: {step}")
        #expect(Texts.text(.cookTimer, in: .english) == "Timer: {label}")
    }

    @Test func marksAllergensForEachPerson() {
        let people = [
            PersonAllergens(person: "Ravi", allergens: [.egg], updatedAt: 0),
            PersonAllergens(person: "Asha", allergens: [.milk, .mustard, .egg], updatedAt: 0),
        ]
        let marks = AllergenMarks(Samples.recipe, for: people)
        #expect(marks.lines(in: .english) == ["⚠️ Asha: milk, mustard"])
        #expect(marks.lines(in: .hindi) == ["⚠️ Asha: दूध, सरसों"])
    }

    @Test func findsAllergensInEveryLanguage() {
        #expect(Texts.allergen(parsing: "Milk") == .milk)
        #expect(Texts.allergen(parsing: "दूध") == .milk)
        #expect(Texts.allergen(parsing: "எள்") == .sesame)
        #expect(Texts.allergen(parsing: "tree_nut") == .treeNut)
        #expect(Texts.allergen(parsing: "stone") == nil)
        #expect(Language(parsing: "HINDI") == .hindi && Language(parsing: "தமிழ்") == .tamil)
    }
}
