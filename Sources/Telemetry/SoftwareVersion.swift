/// Which release this is: what `pikabot --version` says and `bot_info` shows.
public enum SoftwareVersion {
    public static let current = "0.1.0"
}
