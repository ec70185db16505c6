/// Stored form of an outbox: an index of the requests in order, and a record of each.
enum OutboxRecord {
    private static let version: UInt8 = 1

    /// The index: the numbers of the records in order, and the idempotency keys of finished requests.
    struct Index: Hashable {
        var records: [Int64] = []
        var remembered: [String] = []
    }

    static func encode(_ index: Index) -> [UInt8] {
        var writer = RecordWriter(version: version)
        writer.integer(Int64(index.records.count))
        for number in index.records { writer.integer(number) }
        writer.integer(Int64(index.remembered.count))
        for key in index.remembered { writer.text(key) }
        return writer.bytes
    }

    /// Nil for bytes that ``encode(_:)-(Index)`` did not return.
    static func index(_ bytes: [UInt8]) -> Index? {
        guard var reader = RecordReader(bytes, version: version), let count = reader.count(of: 8) else { return nil }
        var index = Index()
        for _ in 0..<count {
            guard let number = reader.integer() else { return nil }
            index.records.append(number)
        }
        guard let keys = reader.count(of: 8) else { return nil }
        for _ in 0..<keys {
            guard let key = reader.text() else { return nil }
            index.remembered.append(key)
        }
        return reader.isAtEnd ? index : nil
    }

    static func encode(_ request: OutboxRequest) -> [UInt8] {
        let http = request.request
        var writer = RecordWriter(version: version)
        for text in [request.idempotencyKey, request.orderKey, http.method, http.url] { writer.text(text) }
        writer.integer(request.expires.milliseconds)
        writer.integer(http.timeout.wholeMilliseconds)
        writer.integer(Int64(http.maximumBytes))
        writer.integer(http.reachesPrivateAddresses ? 1 : 0)
        writer.integer(Int64(http.headers.count))
        for header in http.headers {
            writer.text(header.name)
            writer.text(header.value)
        }
        writer.data(http.body)
        return writer.bytes
    }

    static func request(_ bytes: [UInt8]) -> OutboxRequest? {
        guard var reader = RecordReader(bytes, version: version), let id = reader.text(),
            let orderKey = reader.text(), let method = reader.text(), let url = reader.text(),
            let expires = reader.integer(), let timeout = reader.integer(), let most = reader.integer(),
            let isPrivate = reader.integer(), let count = reader.count(of: 16)
        else { return nil }
        var headers: [(name: String, value: String)] = []
        for _ in 0..<count {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            headers.append((name: name, value: value))
        }
        guard let body = reader.data(), reader.isAtEnd, most >= 0 else { return nil }
        let http = BotHTTPRequest(
            method: method, url: url, headers: headers, body: Array(body), timeout: .milliseconds(timeout),
            maximumBytes: Int(most), reachesPrivateAddresses: isPrivate == 1)
        return OutboxRequest(
            http, idempotencyKey: id, orderKey: orderKey, expires: UnixTime(milliseconds: expires))
    }
}
