package import Foundation

extension LoadResult {
    /// Encodes the result as JSON, with its `schemaVersion`; durations are in seconds, timestamps are RFC 3339.
    package func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Decodes the output of ``json()``.
    ///
    /// - Throws: ``LoadReportError`` of `unsupported_schema` for another version, `malformed_result` for anything else.
    package init(json: Data) throws(LoadReportError) {
        struct Version: Decodable { let schemaVersion: Int }
        let version: Int
        do {
            version = try JSONDecoder().decode(Version.self, from: json).schemaVersion
        } catch {
            throw LoadReportError(.malformedResult, "expected a load result with a schemaVersion", cause: error)
        }
        guard version == Self.schemaVersion else {
            throw LoadReportError(
                .unsupportedSchema,
                "expected schemaVersion \(Self.schemaVersion), found \(version); read it with the release that wrote it"
            )
        }
        do {
            self = try JSONDecoder().decode(LoadResult.self, from: json)
        } catch {
            throw LoadReportError(
                .malformedResult, "the result does not match schemaVersion \(version)", cause: error)
        }
    }
}
