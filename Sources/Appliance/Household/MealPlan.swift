package import Nostr

/// Scheduled meals of a household, with reminders in its time zone.
package struct MealPlan: Hashable, Sendable, Codable {
    package struct Meal: Hashable, Sendable, Codable {
        package let id: String
        package let recipeID: String
        package let title: String
        package let servings: Int
        package let time: LocalTime
        package fileprivate(set) var isReminded = false
    }

    package static let maximumMeals = 200
    /// A reminder that is later than this, in seconds, because nothing ran, is left out.
    static let longestDelay: Int64 = 3_600

    /// Name of the IANA database.
    package private(set) var zone: String
    /// Minutes from a reminder to the meal.
    package private(set) var minutesBefore: Int
    /// In order of their times.
    package private(set) var meals: [Meal] = []

    /// Throws `ApplianceError.Code.malformed` for an unknown zone, or minutes outside 0 to 1,440.
    package init(zone: String, minutesBefore: Int = 60) throws(ApplianceError) {
        self.zone = zone
        self.minutesBefore = minutesBefore
        try self.configure(zone: zone, minutesBefore: minutesBefore)
    }

    /// Changes zone and lead; local times of meals stay. Throws as `init` does, and nothing changes then.
    package mutating func configure(zone: String, minutesBefore: Int) throws(ApplianceError) {
        try Bounds.number(minutesBefore, 0...1_440, "minutesBefore")
        _ = try LocalTime(year: 2026, month: 1, day: 1, hour: 0, minute: 0).instant(in: zone)
        self.zone = zone
        self.minutesBefore = minutesBefore
    }

    /// Schedules a meal.
    ///
    /// Throws `ApplianceError.Code.malformed` for a past time, an id in use or values out of bounds, and
    /// `ApplianceError.Code.full`.
    package mutating func schedule(
        id: String, _ recipe: Recipe, servings: Int, at time: LocalTime, now: UnixTime
    ) throws(ApplianceError) {
        try Bounds.identifier(id, "meal.id")
        try Bounds.number(servings, 1...100, "meal.servings")
        guard !self.meals.contains(where: { $0.id == id }) else {
            throw ApplianceError(.malformed, "meal.id: a meal has this id")
        }
        guard try time.instant(in: self.zone) > now else {
            throw ApplianceError(.malformed, "meal: expected a future time")
        }
        guard self.meals.count < Self.maximumMeals else {
            throw ApplianceError(.full, "\(Self.maximumMeals) meals are scheduled; remove some")
        }
        self.meals.append(Meal(id: id, recipeID: recipe.id, title: recipe.title, servings: servings, time: time))
        self.meals.sort { ($0.time, $0.id) < ($1.time, $1.id) }
    }

    /// Throws `ApplianceError.Code.notFound`.
    package mutating func remove(_ id: String) throws(ApplianceError) {
        guard let index = self.meals.firstIndex(where: { $0.id == id }) else {
            throw ApplianceError(.notFound, "no meal \(id.prefix(64))")
        }
        self.meals.remove(at: index)
    }

    private func reminderTime(_ meal: Meal) -> UnixTime? {
        guard let instant = try? meal.time.instant(in: self.zone) else { return nil }
        return instant - Int64(self.minutesBefore) * 60
    }

    /// The time of the next reminder; nil if none is left.
    package var nextReminder: UnixTime? {
        self.meals.filter { !$0.isReminded }.compactMap { self.reminderTime($0) }.min()
    }

    /// Returns the meals to remind of now, each once, and removes meals that are over.
    package mutating func dueReminders(now: UnixTime) -> [Meal] {
        var due: [Meal] = []
        for index in self.meals.indices where !self.meals[index].isReminded {
            guard let time = self.reminderTime(self.meals[index]), time <= now else { continue }
            self.meals[index].isReminded = true
            if now.seconds(since: time) <= Self.longestDelay { due.append(self.meals[index]) }
        }
        let zone = self.zone
        self.meals.removeAll { meal in
            guard meal.isReminded, let instant = try? meal.time.instant(in: zone) else { return false }
            return now.seconds(since: instant) > Self.longestDelay
        }
        return due
    }
}
