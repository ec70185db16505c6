import BotProgram
import BotRuntime
import MLS
import Nostr
import PikaCore

extension Client {
    /// Lifetime of an upload's authorization in seconds.
    private static let uploadLifetime: Int64 = 3600

    /// Uploads a file unencrypted, for public use, to the first server that accepts it; returns its URL.
    func publish(_ file: LocalFile, to servers: [MediaURL]) async throws -> String {
        Console.progress("uploading \(file.filename)…")
        guard let hash = Bytes32(SHA256Derivation.digest(file.bytes)) else {
            throw CommandError("\(file.filename): its digest must have 32 bytes")
        }
        let authorization = try await key.signed(
            BlossomAuthorization.draft(
                .upload, hashes: [hash], content: "Upload", by: key.publicKey,
                now: .systemTime, lifetime: Self.uploadLifetime))
        let upload = MediaUpload(
            bytes: file.bytes, hash: hash, contentType: file.mediaType, authorization: authorization)
        var reasons: [String] = []
        for server in servers {
            do {
                let stored = try await account.media.upload(upload, to: server)
                guard stored.hash == hash else {
                    reasons.append("\(server): the stored file differs")
                    continue
                }
                return stored.url
            } catch let error as CancellationError {
                throw error
            } catch { reasons.append("\(server): \(error)") }
        }
        throw CommandError("no media server accepted \(file.filename): \(reasons.joined(separator: "; "))")
    }
}
