tensor status
