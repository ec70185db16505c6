import MLS
import Marmot
import Nostr

/// Files of messages and groups (MIP-01, MIP-04): uploads in progress, the secrets that open received files, and the
/// progress of downloads.
struct Media: Sendable {
    /// The maximum number of messages whose downloads are remembered.
    private static let maximumDownloads = 1000

    /// Uploads in progress, by number.
    private var uploads: [Int: MediaOperation] = [:]
    private var lastUpload = 0
    /// Finished uploads whose messages wait until nothing is undecided in their group.
    private var held: [GroupID: [(operation: MediaOperation, addresses: [String])]] = [:]
    private var secrets: [GroupID: MediaSecrets] = [:]
    /// Groups whose secrets are not in the step's changes yet.
    private var dirtySecrets: Set<GroupID> = []
    /// The picture of each group.
    private(set) var groupImages: [GroupID: GroupImage] = [:]
    /// The picture of each group of the second generation.
    private(set) var groupPictures: [GroupID: ComponentPicture] = [:]
    /// Requested files, by message key and index.
    private var downloads: [EventID: [Int: AppState.MediaDownload]] = [:]

    // MARK: Uploads

    /// Adds an upload; returns its number.
    mutating func begin(_ operation: MediaOperation) -> Int {
        self.lastUpload += 1
        self.uploads[self.lastUpload] = operation
        return self.lastUpload
    }

    /// Returns an upload in progress.
    func upload(_ number: Int) -> MediaOperation? { self.uploads[number] }

    /// Keeps an upload whose message has to wait, with the addresses of its files.
    mutating func hold(_ operation: MediaOperation, at addresses: [String]) {
        self.held[operation.groupID, default: []].append((operation, addresses))
    }

    /// Removes and returns the uploads of a group whose messages waited.
    mutating func popHeld(of groupID: GroupID) -> [(operation: MediaOperation, addresses: [String])] {
        self.held.removeValue(forKey: groupID) ?? []
    }

    /// Ends an upload, and returns it.
    mutating func end(_ number: Int) -> MediaOperation? { self.uploads.removeValue(forKey: number) }

    // MARK: Secrets

    /// Records the picture and the current epoch's secret of a group; ``store(_:)`` makes the secret durable in the
    /// same turn.
    mutating func note(_ group: AccountGroup) {
        self.groupImages[group.groupID] = group.data.image
        self.groupPictures[group.groupID] = ComponentPicture(group.picture.avatar, group.picture.image)
        guard group.second?.isRetired != true else {
            if self.secrets.removeValue(forKey: group.groupID) != nil { self.dirtySecrets.insert(group.groupID) }
            return
        }
        if self.secrets[group.groupID, default: MediaSecrets()].note(group) {
            self.dirtySecrets.insert(group.groupID)
        }
    }

    /// Returns the known secrets of a group's epoch, its predecessor and its successor, in this order.
    func secrets(of groupID: GroupID, around epoch: Epoch) -> [Secret] {
        self.secrets[groupID]?.around(epoch) ?? []
    }

    /// Restores a group's secrets; false if the memo is unreadable.
    mutating func restore(_ groupID: GroupID, _ memo: Secret) -> Bool {
        guard let secrets = MediaSecrets(stored: memo) else { return false }
        self.secrets[groupID] = secrets
        return true
    }

    mutating func store(_ step: inout CoreStep) {
        for groupID in self.dirtySecrets {
            step.changes.append(.putMemo(MemoName(.mediaSecrets, groupID), self.secrets[groupID]?.stored))
        }
        self.dirtySecrets = []
    }

    /// Stores the keys of a message's files together with the message, because the group deletes the secrets that the
    /// keys derive from.
    func storeKeys(of message: StoredMessage, _ step: inout CoreStep) {
        let files = MediaAttachment.files(in: message.rumor.tags)
        guard !files.isEmpty else { return }
        let secrets = self.secrets(of: message.groupID, around: message.epoch)
        for (index, file) in files.enumerated() {
            step.changes.append(
                .putMedia(
                    StoredMedia(
                        groupID: message.groupID, messageID: message.id, index: index, reference: file.tag,
                        keys: secrets.map { file.key($0) })))
        }
    }

    // MARK: Downloads

    var hasDownloads: Bool { !self.downloads.isEmpty }

    /// Returns the downloads of a message's files, by index.
    func downloads(of messageKey: EventID) -> [Int: AppState.MediaDownload] { self.downloads[messageKey] ?? [:] }

    /// Records the progress of a download. Once there are too many, only those in progress are kept.
    mutating func set(_ download: AppState.MediaDownload, _ index: Int, of messageKey: EventID) {
        if self.downloads.count >= Self.maximumDownloads {
            self.downloads = self.downloads.filter { $0.value.values.contains(.loading) }
        }
        self.downloads[messageKey, default: [:]][index] = download
    }
}

/// Picture of a group of the second generation.
enum ComponentPicture: Sendable {
    case encrypted(BlossomImage.Reference)
    /// At an address that any admin can choose.
    case atAddress(AvatarURL)

    /// The public picture takes precedence; nil without any.
    init?(_ avatar: AvatarURL?, _ image: BlossomImage.Reference?) {
        if let avatar {
            self = .atAddress(avatar)
        } else if let image {
            self = .encrypted(image)
        } else {
            return nil
        }
    }
}
