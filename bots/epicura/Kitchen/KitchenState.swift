import Appliance
import BotKit

/// Everything that the bot knows of a household and its chats, except secrets, recipes and pictures.
///
/// It is stored before any effect that follows from it. The four parts are four records, so that a change of one does not
/// rewrite the others.
struct KitchenState: Hashable, Sendable {
    var cooking = CookingPart()
    var history = HistoryPart()
    var preferences = PreferenceSync()
    var household = HouseholdPart()
}

/// What changes while something cooks.
struct CookingPart: Hashable, Sendable, Codable {
    var cursor = EventCursor()
    var orders: [CookingOrder] = []
    var stops: [PendingStop] = []
    /// Notices that the inbox may not have yet, in order.
    var outbox: [Notice] = []
    /// Ids of orders that have ended, the latest last, so that a handler that runs again does not start another session.
    var finishedOrders: [String] = []
}

/// A person's request to cook, and the session that follows from it.
struct CookingOrder: Hashable, Sendable, Codable {
    /// Also the id of the start command.
    let id: String
    let chat: String
    /// Hex key.
    let person: String
    let askedAt: UnixTime
    var session: CookingSession
    /// Whether the start command exists. Until then nothing was sent.
    var hasBegun = false
    /// The last status that the chat was told.
    var told: CookingStatus?
    var toldAt: UnixTime?
}

/// An emergency stop without an answer.
struct PendingStop: Hashable, Sendable, Codable {
    let chat: String
    /// Hex key.
    let person: String
    var stop: EmergencyStop
    var isOverdueTold = false
}

/// Past sessions.
struct HistoryPart: Hashable, Sendable, Codable {
    /// A message whose reactions rate a session.
    struct Link: Hashable, Sendable, Codable {
        let message: String
        let session: String
    }

    static let maximumLinks = 200

    var journal = HistoryJournal()
    /// Records for which the journal had no room.
    var unfiled: [HistoryRecord] = []
    var links: [Link] = []

    /// Adds the waiting records to the journal, as far as it has room.
    mutating func file() {
        unfiled.removeAll { record in
            do throws(ApplianceError) {
                try journal.append(record)
                return true
            } catch {
                // A malformed record can never be filed; a full journal has room later.
                return error.code != .full
            }
        }
    }
}

/// What seldom changes.
struct HouseholdPart: Hashable, Sendable, Codable {
    var appliances: [ApplianceRecord] = []
    var chats: [String: ChatState] = [:]
    var pictures: ImageCacheIndex
    /// The chat in which a person logged in, and which is told of the session's end.
    var loginChat: String?
    /// Languages whose recipes are stored, with the time of the last complete update.
    var recipeTimes: [Language: UnixTime] = [:]

    init(pictures: ImageCacheIndex = ImageCacheIndex()) { self.pictures = pictures }
}

/// The choices and lists of one chat.
struct ChatState: Hashable, Sendable, Codable {
    /// A login that waits for the person's next message.
    enum Login: Hashable, Sendable, Codable {
        case address
        case code(challengeID: String, expiresAt: UnixTime)
    }

    var language: Language?
    var login: Login?
    /// Ids of the last listed recipes.
    var listed: [String] = []
    var groceries = GroceryList()
    var plan: MealPlan?
}
