package import Nostr

/// Preferences and allergens of a household on this side, with the changes that the cloud does not have yet.
///
/// Changes are made at once and uploaded when possible. The rule for conflicts: of two changes of a preference, the later
/// one counts, the cloud's if the times are equal. Of allergens, added ones of both sides count; a removal counts unless
/// the cloud's list of this person changed meanwhile, because a missing mark can harm and a needless one cannot.
package struct PreferenceSync: Hashable, Sendable, Codable {
    /// A change that the cloud has not confirmed.
    private enum Change: Hashable, Codable {
        case value(name: String, PreferenceValue)
        case allergens(person: String, added: Set<Allergen>, removed: Set<Allergen>, at: UnixTime)

        var key: String {
            switch self {
            case .value(let name, _): "value:\(name)"
            case .allergens(let person, _, _, _): "person:\(person)"
            }
        }
    }

    /// Changes of so many preferences and persons can wait; a change of another one is refused.
    package static let maximumPending = 96

    /// The cloud's last known state.
    private var base: Preferences
    /// At most one for each key, in order of their first change.
    private var pending: [Change] = []
    /// The changes of the upload under way.
    private var uploading: [Change]?

    package init(base: Preferences = Preferences(version: 0)) { self.base = base }

    package var pendingCount: Int { self.pending.count }
    /// The cloud's version that this side has seen.
    package var version: Int { self.base.version }

    /// The state with all changes of this side.
    package var current: Preferences { self.pending.reduce(into: self.base) { Self.apply($1, to: &$0) } }

    // MARK: Changes

    /// Throws `ApplianceError.Code.malformed` or `ApplianceError.Code.full`; nothing changes then.
    package mutating func set(_ name: String, to text: String, now: UnixTime) throws(ApplianceError) {
        try Bounds.identifier(name, "preference")
        let value = PreferenceValue(text: text, updatedAt: now)
        try value.validate()
        try self.enqueue(.value(name: name, value))
    }

    /// Replaces the allergens of a person. Throws as ``set(_:to:now:)`` does.
    package mutating func setAllergens(
        _ allergens: Set<Allergen>, of person: String, now: UnixTime
    ) throws(ApplianceError) {
        try PersonAllergens(person: person, allergens: allergens.sorted(), updatedAt: now).validate()
        let known = Set(self.base.people.first { $0.person == person }?.allergens ?? [])
        try self.enqueue(
            .allergens(
                person: person, added: allergens.subtracting(known), removed: known.subtracting(allergens), at: now))
    }

    private mutating func enqueue(_ change: Change) throws(ApplianceError) {
        var changed = self
        changed.pending.removeAll { $0.key == change.key }
        guard changed.pending.count < Self.maximumPending else {
            throw ApplianceError(.full, "\(Self.maximumPending) changes wait for the cloud")
        }
        changed.pending.append(change)
        try changed.current.validate()
        self = changed
    }

    // MARK: Synchronization

    /// Returns the state to upload; nil without changes, or while an upload is under way.
    package mutating func beginUpload() -> Preferences? {
        guard self.uploading == nil, !self.pending.isEmpty else { return nil }
        self.uploading = self.pending
        return self.current
    }

    /// The upload failed or its answer was lost; the next one repeats it.
    package mutating func uploadFailed() { self.uploading = nil }

    /// The cloud has accepted the upload, and this is its new state. Changes made meanwhile still wait.
    package mutating func uploaded(_ stored: Preferences) {
        let sent = self.uploading ?? []
        self.uploading = nil
        guard stored.version > self.base.version else { return self.merge(stored) }
        self.pending = self.pending.filter { !sent.contains($0) }
        self.base = stored
    }

    /// Applies the cloud's state: read by request, after an event, or from a refused upload.
    ///
    /// A state that is older than a known one is ignored.
    package mutating func merge(_ cloud: Preferences) {
        self.uploading = nil
        guard cloud.version >= self.base.version, (try? cloud.validate()) != nil else { return }
        let old = self.base
        self.base = cloud
        self.pending = self.pending.compactMap { Self.rebase($0, from: old, to: cloud) }
        // The two sides together may exceed a limit: the last changes give way.
        while !self.pending.isEmpty, (try? self.current.validate()) == nil { self.pending.removeLast() }
    }

    private static func rebase(_ change: Change, from old: Preferences, to cloud: Preferences) -> Change? {
        switch change {
        case .value(let name, let value):
            guard let other = cloud.values[name], other != old.values[name] else { return change }
            return value.updatedAt > other.updatedAt && value.text != other.text ? change : nil
        case .allergens(let person, let added, let removed, let time):
            let before = old.people.first { $0.person == person }
            let after = cloud.people.first { $0.person == person }
            let known = Set(after?.allergens ?? [])
            let stillRemoved = before == after ? removed : []
            let rest = Change.allergens(
                person: person, added: added.subtracting(known), removed: stillRemoved.intersection(known), at: time)
            return added.isSubset(of: known) && stillRemoved.isDisjoint(with: known) && after != nil ? nil : rest
        }
    }

    private static func apply(_ change: Change, to preferences: inout Preferences) {
        switch change {
        case .value(let name, let value): preferences.values[name] = value
        case .allergens(let person, let added, let removed, let time):
            let known = Set(preferences.people.first { $0.person == person }?.allergens ?? [])
            preferences.people.removeAll { $0.person == person }
            preferences.people.append(
                PersonAllergens(
                    person: person, allergens: known.subtracting(removed).union(added).sorted(), updatedAt: time))
            preferences.people.sort { $0.person < $1.person }
        }
    }
}
