import CallMedia
import Foundation
import Nostr
import PikaCore

/// Validates the arguments of commands.
enum CommandArguments {
    static func eventID(
        _ text: String, _ message: String = "event_id must be hex"
    ) throws(DaemonFailure) -> EventID {
        do { return try EventID(hex: text.filter { !$0.isWhitespace }.lowercased()) } catch {
            throw DaemonFailure(.badEventID, message)
        }
    }

    static func publicKey(_ text: String) throws(DaemonFailure) -> PublicKey {
        do { return try PublicKey(parsing: text.filter { !$0.isWhitespace }) } catch {
            throw DaemonFailure(.badPublicKey, "invalid peer_pubkey: \(error.message)")
        }
    }

    /// Returns the keys without duplicates, in order.
    static func publicKeys(_ texts: [String]) throws(DaemonFailure) -> [PublicKey] {
        guard !texts.isEmpty else { throw DaemonFailure(.badRequest, "peer_pubkeys must not be empty") }
        var keys: [PublicKey] = []
        for text in texts {
            let key = try self.publicKey(text)
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    /// Returns the generation for a new group; nil for the one that the configuration chooses.
    static func groupProtocol(_ text: String?) throws(DaemonFailure) -> GroupProtocol? {
        guard let text else { return nil }
        guard let found = GroupProtocol(rawValue: text) else {
            let names = GroupProtocol.allCases.map(\.rawValue).joined(separator: ", ")
            throw DaemonFailure(.badRequest, "protocol: expected one of \(names), found \(text.prefix(64))")
        }
        return found
    }

    /// Returns the treatment of peers that cannot be invited; to fail by default.
    static func missingPeers(_ text: String?) throws(DaemonFailure) -> MissingPeers {
        switch text {
        case nil, "fail": .fail
        case "skip": .proceedWithout
        case let other?:
            throw DaemonFailure(.badRequest, "on_missing: expected fail or skip, found \(other.prefix(64))")
        }
    }

    /// Returns the relays without duplicates, in order; skips blank texts.
    static func relays(_ texts: [String]) throws(DaemonFailure) -> [RelayURL] {
        var relays: [RelayURL] = []
        for text in texts.map({ $0.filter { !$0.isWhitespace } }) where !text.isEmpty {
            do {
                let relay = try RelayURL(text)
                if !relays.contains(relay) { relays.append(relay) }
            } catch { throw DaemonFailure(.badRelays, "parse relay url: \(text): \(error.message)") }
        }
        return relays
    }

    static func pushRegistration(_ token: DaemonCommand.PushToken) throws(DaemonFailure) -> PushRegistration {
        let server: PublicKey
        do { server = try PublicKey(parsing: token.server.filter { !$0.isWhitespace }) } catch {
            throw DaemonFailure(.badPublicKey, "invalid server_pubkey: \(error.message)")
        }
        let relay: RelayURL
        do { relay = try RelayURL(token.relay.trimmed) } catch {
            throw DaemonFailure(.badRelays, "relay_url: \(error.message)")
        }
        guard let platform = PushRegistration.Platform(rawValue: token.platform) else {
            throw DaemonFailure(.badRequest, "platform must be apns or fcm")
        }
        // The token is secret, so the error does not contain it.
        guard let bytes = Hex.decode(token.tokenHex) else {
            throw DaemonFailure(.badRequest, "token_hex must be an even number of hexadecimal digits")
        }
        return PushRegistration(server: server, relay: relay, platform: platform, token: bytes)
    }

    static func mediaServers(_ texts: [String]) throws(DaemonFailure) -> [MediaURL] {
        var servers: [MediaURL] = []
        for text in texts where !text.trimmed.isEmpty {
            do { servers.append(try MediaURL(text.trimmed)) } catch {
                throw DaemonFailure(.uploadFailed, error.message)
            }
        }
        return servers
    }

    static func profileDraft(name: String, about: String) throws(DaemonFailure) -> ProfileDraft {
        guard !name.isEmpty || !about.isEmpty else {
            throw DaemonFailure(.badRequest, "name or about must not be empty")
        }
        return ProfileDraft(name: name, about: about)
    }

    static func profileDraft(image: String, type: String) throws(DaemonFailure) -> ProfileDraft {
        guard !image.isEmpty else { throw DaemonFailure(.badRequest, "image_base64 must not be empty") }
        guard let data = Data(base64Encoded: image) else {
            throw DaemonFailure(.badRequest, "invalid image data: not base64")
        }
        guard !data.isEmpty else { throw DaemonFailure(.badRequest, "image data must not be empty") }
        guard data.count <= 8 << 20 else { throw DaemonFailure(.badRequest, "image too large (max 8 MB)") }
        guard !type.isEmpty else { throw DaemonFailure(.badMIMEType, "mime_type must not be empty") }
        guard type.hasPrefix("image/") else { throw DaemonFailure(.badMIMEType, "mime_type must start with image/") }
        return ProfileDraft(image: OutgoingImage(bytes: [UInt8](data), mediaType: type))
    }

    // MARK: Files

    static func files(_ sources: [DaemonCommand.File]) throws(DaemonFailure) {
        guard !sources.isEmpty else { throw DaemonFailure(.fileError, "no file paths provided") }
        guard sources.count <= MediaAttachment.maximumCount else {
            throw DaemonFailure(.fileError, "too many files (max \(MediaAttachment.maximumCount))")
        }
    }

    static func file(_ source: DaemonCommand.File, _ bytes: [UInt8]) throws(DaemonFailure) -> OutgoingFile {
        guard !bytes.isEmpty else { throw DaemonFailure(.fileError, "file is empty: \(source.path)") }
        let name = source.filename?.trimmed ?? ""
        let filename = name.isEmpty ? URL(fileURLWithPath: source.path).lastPathComponent : name
        let type = source.mimeType?.trimmed ?? ""
        return OutgoingFile(
            bytes: bytes, filename: filename, mediaType: type.isEmpty ? self.mediaType(of: filename) : type)
    }

    /// Returns the media type by the file name's extension, as the apps guess it.
    private static func mediaType(of filename: String) -> String {
        switch URL(fileURLWithPath: filename).pathExtension.lowercased() {
        case "jpg", "jpeg": "image/jpeg"
        case "png": "image/png"
        case "gif": "image/gif"
        case "webp": "image/webp"
        case "heic": "image/heic"
        case "mp4", "m4v": "video/mp4"
        case "mov": "video/quicktime"
        case "webm": "video/webm"
        case "mp3": "audio/mpeg"
        case "m4a": "audio/mp4"
        case "ogg": "audio/ogg"
        case "wav": "audio/wav"
        case "pdf": "application/pdf"
        case "txt", "md": "text/plain"
        default: "application/octet-stream"
        }
    }

    // MARK: Calls

    /// Returns the session that an invitation asks for.
    static func session(
        _ invitation: DaemonCommand.CallInvitation, callID: String
    ) throws(DaemonFailure) -> CallSession {
        let url = invitation.moqURL.trimmed
        guard !url.isEmpty else { throw DaemonFailure(.runtimeError, "moq_url must not be empty") }
        let track = CallSession.Track(
            name: invitation.trackName.flatMap(\.nonBlank) ?? "pty0",
            codec: invitation.trackCodec.flatMap(\.nonBlank) ?? "bytes", sampleRate: 1, channels: 1,
            frameMilliseconds: 1)
        let base = invitation.broadcastBase.flatMap(\.nonBlank)?.trimmingCharacters(in: ["/"])
        return CallSession(
            moqURL: url, broadcastBase: base ?? "pika/pty/\(callID)",
            relayAuth: invitation.relayAuth.flatMap(\.nonBlank) ?? "", tracks: [track])
    }

    private static let audioFormats =
        "\(CallAudio.Format.rates) Hz and \(CallAudio.Format.channelCounts) channels"

    /// Returns the format of an audio file, and that of the call's track.
    static func audioFormats(
        rate: UInt32, channels: UInt16, _ track: CallSession.Track
    ) throws(DaemonFailure) -> (source: CallAudio.Format, target: CallAudio.Format) {
        let source = CallAudio.Format(rate: Int(rate), channels: Int(channels))
        guard source.isSupported else {
            throw DaemonFailure(.badRequest, "sample_rate and channels must be \(self.audioFormats)")
        }
        // The peer chooses the track's sample rate and channel count.
        let target = CallAudio.Format(rate: Int(clamping: track.sampleRate), channels: Int(clamping: track.channels))
        guard target.isSupported else {
            throw DaemonFailure(.runtimeError, "the call's sample rate and channels are not \(self.audioFormats)")
        }
        return (source, target)
    }
}
