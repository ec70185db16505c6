import NIOCore
import NIOHTTP1
import NIOPosix
import Nostr

/// HTTP routes of the media store: BUD-01 (get), BUD-02 (upload, list, delete) and BUD-06 (upload check).
struct BlossomRoutes: Sendable {
    private let store: BlobStore
    private let publicURL: RelayURL?
    private let serviceURL: String?
    private let now: @Sendable () -> UnixTime

    init(_ core: RelayCore) {
        store = core.blobs
        publicURL = core.configuration.publicURL
        serviceURL = core.configuration.serviceURL
        now = core.now
    }

    var routes: [HTTPRoute] {
        let isUpload = { @Sendable (path: String) in path == "/upload" }
        let isBlob = { @Sendable (path: String) in Self.hash(path: path) != nil }
        let isList = { @Sendable (path: String) in path.hasPrefix("/list/") }
        var upload = HTTPRoute(method: .PUT, matches: isUpload) { _, eventLoop in
            eventLoop.makeFailedFuture(HTTPRefusal(.badRequest, "the request has no body"))
        }
        upload.openBody = { head, eventLoop throws(HTTPRefusal) in try self.open(head, eventLoop) }
        return [
            upload,
            HTTPRoute(method: .HEAD, matches: isUpload) { request, eventLoop in
                eventLoop.makeCompletedFuture { try self.mayUpload(request.head) }
            },
            HTTPRoute(method: .GET, matches: isBlob) { request, eventLoop in
                NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try self.blob(request.head) }
            },
            HTTPRoute(method: .GET, matches: isList) { request, eventLoop in
                NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try self.list(request.head) }
            },
            HTTPRoute(method: .DELETE, matches: isBlob) { request, eventLoop in
                NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try self.delete(request.head) }
            },
        ]
    }

    /// Returns the hash in `/<64 hex digits>[.ext]`; nil for any other path, so that no path can leave the folder.
    static func hash(path: String) -> Bytes32? {
        let parts = path.utf8.dropFirst().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard path.utf8.first == UInt8(ascii: "/"), (1...2).contains(parts.count), let name = String(parts[0]) else {
            return nil
        }
        let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        if parts.count == 2, !(1...16).contains(parts[1].count) || !parts[1].allSatisfy(letters.contains) { return nil }
        return Bytes32(hex: name)
    }

    // MARK: Upload

    private func open(_ head: HTTPRequestHead, _ eventLoop: any EventLoop) throws(HTTPRefusal) -> any HTTPBodySink {
        let event = try authorized(head, .upload)
        if let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }) { try checkSize(length) }
        let type = BlobDescriptor.mediaType(head.headers.first(name: "Content-Type"))
        let base = try base(head)
        return BlobUpload(store, on: eventLoop) { [store, now] blob in
            let (hash, size) = try blob.complete()
            try Self.check(event, hash)
            let kept = try store.keep(blob, hash: hash, size: size, type: type, owner: event.pubkey, now: now())
            return HTTPAnswer(
                status: .ok, contentType: "application/json", body: ByteBuffer(bytes: kept.json(base: base)))
        }
    }

    private func mayUpload(_ head: HTTPRequestHead) throws(HTTPRefusal) -> HTTPAnswer {
        let event = try authorized(head, .upload)
        guard let hash = head.headers.first(name: "X-SHA-256").flatMap({ Bytes32(hex: $0) }),
            let length = head.headers.first(name: "X-Content-Length").flatMap({ Int($0) })
        else { throw HTTPRefusal(.badRequest, "X-SHA-256 and X-Content-Length are required (BUD-06)") }
        try checkSize(length)
        try Self.check(event, hash)
        return HTTPAnswer(status: .ok)
    }

    private func checkSize(_ length: Int) throws(HTTPRefusal) {
        guard length <= store.maximumBytes else {
            throw HTTPRefusal(.payloadTooLarge, "the file exceeds the maximum of \(store.maximumBytes) bytes")
        }
        guard length >= 0 else { throw HTTPRefusal(.badRequest, "the content length must not be negative") }
        guard store.space.hasRoom(for: length) else {
            throw HTTPRefusal(.insufficientStorage, "the media store is full")
        }
    }

    /// Checks the hash: an authorization that names blobs allows only those.
    private static func check(_ event: Event, _ hash: Bytes32) throws(HTTPRefusal) {
        guard event.firstTag("x") == nil || BlossomAuthorization.allows(event, hash) else {
            throw HTTPRefusal(.forbidden, "the authorization does not allow file \(hash.hex)")
        }
    }

    private func authorized(
        _ head: HTTPRequestHead, _ action: BlossomAuthorization.Action
    ) throws(HTTPRefusal) -> Event {
        guard let header = head.headers.first(name: "Authorization") else {
            throw HTTPRefusal(.unauthorized, "an Authorization header is required (BUD-01)")
        }
        do {
            let event = try BlossomAuthorization.event(header: header)
            try BlossomAuthorization.verify(event, for: action, now: now())
            return event
        } catch { throw HTTPRefusal(.unauthorized, error.message) }
    }

    /// Returns this server's public address: the configured one, or that of the request.
    private func base(_ head: HTTPRequestHead) throws(HTTPRefusal) -> String {
        if let serviceURL { return serviceURL }
        let url = publicURL ?? head.headers.first(name: "Host").flatMap { try? RelayURL("ws://\($0)") }
        guard let url else { throw HTTPRefusal(.badRequest, "the header Host is missing or malformed") }
        return (url.isSecure ? "https://" : "http://") + url.authority
    }

    // MARK: Blobs

    private func blob(_ head: HTTPRequestHead) throws(HTTPRefusal) -> HTTPAnswer {
        guard let hash = Self.hash(path: path(head)), let (descriptor, file) = store.find(hash) else {
            throw HTTPRefusal(.notFound, "no file has this hash")
        }
        var answer = HTTPAnswer(status: .ok, contentType: descriptor.type)
        answer.headers = [
            "Accept-Ranges": "bytes", "Cache-Control": "public, max-age=31536000, immutable",
            // The uploader chooses the type: browsers must not run the file as a page of this server.
            "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
        ]
        switch ByteRange(head.headers.first(name: "Range"), of: file.size) {
        case .whole: answer.file = FileSlice(file: file, start: 0, length: file.size)
        case .part(let start, let length):
            answer.status = .partialContent
            answer.headers.add(name: "Content-Range", value: "bytes \(start)-\(start + length - 1)/\(file.size)")
            answer.file = FileSlice(file: file, start: start, length: length)
        case .unsatisfiable:
            var refusal = HTTPRefusal(.rangeNotSatisfiable, "the file has \(file.size) bytes").answer
            refusal.headers.add(name: "Content-Range", value: "bytes */\(file.size)")
            return refusal
        }
        return answer
    }

    private func delete(_ head: HTTPRequestHead) throws -> HTTPAnswer {
        let event = try authorized(head, .delete)
        guard let hash = Self.hash(path: path(head)) else { throw HTTPRefusal(.notFound, "no file has this hash") }
        // An authorization without a blob's hash could be replayed to delete any blob.
        guard BlossomAuthorization.allows(event, hash) else {
            throw HTTPRefusal(.forbidden, "the authorization does not name this file")
        }
        switch try store.delete(hash, owner: event.pubkey) {
        case .done: return HTTPAnswer(status: .ok)
        case .unknown: throw HTTPRefusal(.notFound, "no file has this hash")
        case .notOwner: throw HTTPRefusal(.forbidden, "another key uploaded this file")
        }
    }

    /// Lists the requester's own files, newest first; `since` and `until` bound the upload time.
    private func list(_ head: HTTPRequestHead) throws(HTTPRefusal) -> HTTPAnswer {
        guard let owner = try? PublicKey(hex: String(path(head).dropFirst("/list/".count))) else {
            throw HTTPRefusal(.badRequest, "the path must contain a public key")
        }
        guard try authorized(head, .list).pubkey == owner else {
            throw HTTPRefusal(.forbidden, "only the owner of a key may list its files")
        }
        let since = try query("since", of: head) ?? .distantPast
        let until = try query("until", of: head) ?? .distantFuture
        let base = try base(head)
        let found = store.list(of: owner, since: since, until: until)
        let json = found.map { String(decoding: $0.json(base: base), as: UTF8.self) }.joined(separator: ",")
        return HTTPAnswer(status: .ok, contentType: "application/json", body: ByteBuffer(string: "[\(json)]"))
    }

    private func query(_ name: String, of head: HTTPRequestHead) throws(HTTPRefusal) -> UnixTime? {
        let fields = head.uri.drop { $0 != "?" }.dropFirst().split(separator: "&")
        guard let field = fields.first(where: { $0.hasPrefix("\(name)=") }) else { return nil }
        guard let value = Int64(field.dropFirst(name.count + 1)) else {
            throw HTTPRefusal(.badRequest, "\(name) must be a Unix time in seconds")
        }
        return UnixTime(value)
    }

    private func path(_ head: HTTPRequestHead) -> String { String(head.uri.prefix { $0 != "?" }) }
}
