import Nostr

/// Pictures of the simulated camera: a pot in 64 by 48 grey pixels.
package enum SamplePicture {
    /// A JPEG; the number is in a comment segment, so that consecutive pictures differ.
    package static func jpeg(number: Int) -> [UInt8] {
        let comment = Array("picture \(number)".utf8)
        // COM segment: the length includes its own two bytes (ITU-T T.81 §B.2.4.5).
        let segment: [UInt8] = [0xFF, 0xFE, 0, UInt8(truncatingIfNeeded: comment.count + 2)] + comment
        return Array(self.pot.prefix(2)) + segment + Array(self.pot.dropFirst(2))
    }

    private static let pot = Base64.decode(base64) ?? []

    private static let base64 = """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABcQERQRDhcUEhQaGBcbIjklIh8fIkYyNSk5UkhXVVFIUE5bZoNvW2F8Yk5Qcptz\
        fIeLkpSSWG2grJ+OqoOPko3/wAALCAAwAEABAREA/8QAGgAAAQUBAAAAAAAAAAAAAAAAAAECAwQFBv/EACUQAAICAQMEAgMB\
        AAAAAAAAAAECABEDBBIhBTFBsVGBE2Fx4f/aAAgBAQAAPwDAhCEIQhCEJKumzMLGM/fEU6bMosofo3IiCDRFERIQj8eNsrhV\
        HPqbnT+mAoHY0pvkdz/k000uBLrEvPzz7itpcDijiX6FepQ13TEZGZOVAJIPcfyc/mwthem7eD8yOWNKuFt35q8VZqXMKYVJ\
        OLbfmjc6Na2jbW2uK7VFhCc/q0wtlfft2BztN0JR1KYFxg4iu6/DXKskw5Thybhz4I+Zu6HqIXGARux89u4mimqwPdZV4+eP\
        cVtVgQWcq/Rv1KOs6iNjKnCVTMR6mBqM5zPdUo7CQwhHKzKbViD+jJl1uUDna37IinW5SKG0fsCQO7ubdif7Gwn/2Q==
        """
}
