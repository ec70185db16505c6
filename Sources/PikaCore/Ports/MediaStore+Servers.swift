import Nostr

extension MediaStore {
    /// Uploads each blob to the first server that accepts it; returns the addresses in the order of the blobs.
    ///
    /// A server that reports a hash other than the blob's counts as failed.
    func upload(_ blobs: [MediaUpload], to servers: [MediaURL]) async -> Result<[String], AppCoreError> {
        guard !servers.isEmpty else {
            return .failure(
                AppCoreError(.noMediaServer, "no media server is configured; name one under media: servers"))
        }
        var urls: [String] = []
        for blob in blobs {
            switch await self.upload(blob, toFirstOf: servers) {
            case .success(let url): urls.append(url)
            case .failure(let error): return .failure(error)
            }
        }
        return .success(urls)
    }

    private func upload(_ blob: MediaUpload, toFirstOf servers: [MediaURL]) async -> Result<String, AppCoreError> {
        var reasons: [String] = []
        for server in servers {
            do {
                let stored = try await self.upload(blob, to: server)
                guard stored.hash == blob.hash else {
                    throw AppCoreError(.mediaFailed, "it stored \(stored.hash.hex) instead of \(blob.hash.hex)")
                }
                // The address goes into the message, so it must be one that receivers accept.
                _ = try MediaURL(stored.url)
                return .success(stored.url)
            } catch { reasons.append("\(server): \(error)") }
        }
        return .failure(
            AppCoreError(.mediaFailed, "no media server accepted the file: \(reasons.joined(separator: "; "))"))
    }

    /// Returns the content of the first address for which `open` succeeds.
    func download<Value: Sendable>(
        fromFirstOf addresses: [MediaURL], limit: Int, open: @Sendable ([UInt8]) throws -> Value
    ) async throws -> Value {
        var reasons: [String] = []
        for address in addresses {
            do { return try open(try await self.download(address, limit: limit)) } catch let error as CancellationError
            {
                throw error
            } catch { reasons.append("\(address): \(error)") }
        }
        throw AppCoreError(.mediaFailed, "no media server has the file: \(reasons.joined(separator: "; "))")
    }
}
